#include "common/rpc/tls_material.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/base/ids.h"
#include "common/base/status.h"
#include "tests/common/rpc/test_pki.h"

namespace houtu {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class TlsMaterialTest : public ::testing::Test {
 protected:
  TlsMaterialTest() : folder_(fs::temp_directory_path() / ("houtu-tls-" + NewJobId())) {
    fs::create_directory(folder_);
    tls_ = TestPki().IssueFiles("houtu:client/alice", folder_, "me");
  }
  ~TlsMaterialTest() override { fs::remove_all(folder_); }

  const std::string folder_;
  v1::Tls tls_;
};

TEST_F(TlsMaterialTest, TheFilesAreRead) {
  const auto material = LoadTls(tls_);
  ASSERT_TRUE(material.ok()) << material.status();
  EXPECT_THAT(material->ca, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_THAT(material->certificate, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_THAT(material->key, HasSubstr("PRIVATE KEY"));
}

TEST_F(TlsMaterialTest, AMissingFileIsNamed) {
  fs::remove(tls_.certificate());
  const absl::Status status = LoadTls(tls_).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr(tls_.certificate()));
}

TEST_F(TlsMaterialTest, AKeyThatOthersMayReadIsRefused) {
  ASSERT_EQ(::chmod(tls_.key().c_str(), 0640), 0);
  const absl::Status status = LoadTls(tls_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(Message(status), HasSubstr("chmod 600"));
}

}  // namespace
}  // namespace houtu
