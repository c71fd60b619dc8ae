// FetchInput: raw inputs for agents, as far as residency lets them go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/agent/service/test_node.h"

namespace houtu::agent {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class InputsTest : public ::testing::Test {
 protected:
  InputsTest() { testing::WriteText(node_.data() / "part-0", "one\ntwo\nthree\n"); }

  v1::FetchInputRequest Input(v1::Residency residency, const std::string& name = "part-0") const {
    v1::FetchInputRequest request;
    request.set_job(kAlicesJob);
    request.mutable_input()->set_path(node_.data() / name);
    request.mutable_input()->set_residency(residency);
    return request;
  }

  TestPki pki_;
  TestNode node_{&pki_, "dc1", "n1"};
};

TEST_F(InputsTest, ItsDatacentersAgentsReadAResidentInput) {
  for (const auto residency : {v1::RESIDENCY_UNSPECIFIED, v1::RESIDENCY_DATACENTER}) {
    const FetchedFiles fetched = Fetch(&pki_, "houtu:agent/dc1/n2", node_, Input(residency));
    ASSERT_TRUE(fetched.status.ok()) << fetched.status;
    EXPECT_THAT(fetched.files, UnorderedElementsAre(Pair("0/part-0", "one\ntwo\nthree\n")));
    EXPECT_EQ(fetched.headers.at("0/part-0").size_bytes(), 14);
  }
}

TEST_F(InputsTest, AnotherDatacentersAgentIsRefusedAResidentInput) {
  for (const auto residency : {v1::RESIDENCY_UNSPECIFIED, v1::RESIDENCY_DATACENTER}) {
    for (const char* role : {"houtu:agent/dc2/n2", "houtu:manager/dc2/n2", "houtu:master/dc2"}) {
      const FetchedFiles fetched = Fetch(&pki_, role, node_, Input(residency));
      EXPECT_TRUE(absl::IsPermissionDenied(fetched.status)) << role << fetched.status;
      EXPECT_TRUE(fetched.files.empty());
    }
  }
}

TEST_F(InputsTest, AnotherDatacentersAgentIsServedWithResidencyAnywhere) {
  const FetchedFiles fetched =
      Fetch(&pki_, "houtu:agent/dc2/n2", node_, Input(v1::RESIDENCY_ANYWHERE));
  ASSERT_TRUE(fetched.status.ok()) << fetched.status;
  EXPECT_THAT(fetched.files, UnorderedElementsAre(Pair("0/part-0", "one\ntwo\nthree\n")));
}

TEST_F(InputsTest, ClientsGetNoRawInput) {
  for (const char* role : {"houtu:client/alice", "houtu:admin/root"}) {
    const FetchedFiles fetched = Fetch(&pki_, role, node_, Input(v1::RESIDENCY_ANYWHERE));
    EXPECT_TRUE(absl::IsPermissionDenied(fetched.status)) << role << fetched.status;
  }
}

TEST_F(InputsTest, OnlyFilesBelowTheDataRootsAreServed) {
  std::filesystem::create_symlink("/etc/passwd", node_.data() / "link");
  for (const char* name : {"link", "../jobs", "/etc/passwd"}) {
    const FetchedFiles fetched =
        Fetch(&pki_, "houtu:agent/dc1/n2", node_, Input(v1::RESIDENCY_ANYWHERE, name));
    EXPECT_TRUE(absl::IsPermissionDenied(fetched.status)) << name << fetched.status;
  }
  const FetchedFiles fetched =
      Fetch(&pki_, "houtu:agent/dc1/n2", node_, Input(v1::RESIDENCY_ANYWHERE, "absent"));
  EXPECT_TRUE(absl::IsNotFound(fetched.status)) << fetched.status;
}

TEST_F(InputsTest, PiecesAreCutAtLineEndsAndGiveEachByteOnce) {
  v1::FetchInputRequest request = Input(v1::RESIDENCY_DATACENTER);
  request.mutable_input()->set_length_bytes(6);
  const FetchedFiles first = Fetch(&pki_, "houtu:agent/dc1/n2", node_, request);
  request.mutable_input()->set_offset_bytes(6);
  request.mutable_input()->clear_length_bytes();
  const FetchedFiles second = Fetch(&pki_, "houtu:agent/dc1/n2", node_, request);
  EXPECT_EQ(first.files.at("0/part-0"), "one\ntwo\n");
  EXPECT_EQ(second.files.at("0/part-0"), "three\n");
}

}  // namespace
}  // namespace houtu::agent
