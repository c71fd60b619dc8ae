#include "agent/images/oci_layout.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/images/temp_folder.h"

namespace houtu::testing {
namespace {

using agent::OciLayout;

const std::string kManifestDigest(64, 'a');
const std::string kIndexDigest(64, 'b');

std::string Descriptor(const std::string& digest, const std::string& more = "") {
  return fmt::format(R"({{"digest":"sha256:{}","size":1{}}})", digest, more);
}

std::string Tag(const std::string& tag) {
  return R"(,"annotations":{"org.opencontainers.image.ref.name":")" + tag + R"("})";
}

class OciLayoutTest : public ::testing::Test {
 protected:
  void Index(const std::string& descriptors) {
    WriteText(folder_.path() / "index.json", R"({"manifests":[)" + descriptors + "]}");
  }
  void Blob(const std::string& digest, const std::string& text) {
    WriteText(folder_.path() / "blobs/sha256" / digest, text);
  }
  absl::StatusCode CodeOf(const std::string& tag) {
    return OciLayout(folder_.path(), false).Find(tag).status().code();
  }

  TempFolder folder_;
};

TEST_F(OciLayoutTest, FindsTheTagAndSumsItsLayers) {
  Index(Descriptor(kIndexDigest, Tag("other")) + "," + Descriptor(kManifestDigest, Tag("v1")));
  Blob(kManifestDigest, R"({"layers":[{"size":3},{"size":4}]})");
  const auto image = OciLayout(folder_.path(), false).Find("v1");
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->digest, kManifestDigest);
  EXPECT_EQ(image->layer_bytes, 7);
}

TEST_F(OciLayoutTest, WithoutATagTheOnlyImageIsMeant) {
  Index(Descriptor(kManifestDigest));
  Blob(kManifestDigest, R"({"layers":[]})");
  EXPECT_EQ(CodeOf(""), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOf("v1"), absl::StatusCode::kNotFound);
}

TEST_F(OciLayoutTest, OfSeveralWithoutATagTheLatestIsMeant) {
  Index(Descriptor(kIndexDigest, Tag("v1")) + "," + Descriptor(kManifestDigest, Tag("latest")));
  Blob(kManifestDigest, R"({"layers":[]})");
  EXPECT_EQ(OciLayout(folder_.path(), false).Find("")->digest, kManifestDigest);
}

TEST_F(OciLayoutTest, AnIndexForSeveralProcessorsGivesThisOnes) {
  Index(Descriptor(kIndexDigest, Tag("v1")));
  const auto platform = [](const char* name) {
    return fmt::format(R"(,"platform":{{"os":"linux","architecture":"{}"}})", name);
  };
#if defined(__x86_64__)
  const std::string own = platform("amd64");
#else
  const std::string own = platform("arm64");
#endif
  Blob(kIndexDigest, R"({"manifests":[)" + Descriptor(kIndexDigest, platform("mips")) + "," +
                         Descriptor(kManifestDigest, own) + "]}");
  Blob(kManifestDigest, R"({"layers":[]})");
  EXPECT_EQ(OciLayout(folder_.path(), false).Find("v1")->digest, kManifestDigest);
}

TEST_F(OciLayoutTest, AnIndexThatNamesItselfIsBroken) {
  Index(Descriptor(kIndexDigest, Tag("v1")));
#if defined(__x86_64__)
  const char* own = R"(,"platform":{"os":"linux","architecture":"amd64"})";
#else
  const char* own = R"(,"platform":{"os":"linux","architecture":"arm64"})";
#endif
  Blob(kIndexDigest, R"({"manifests":[)" + Descriptor(kIndexDigest, own) + "]}");
  EXPECT_EQ(CodeOf("v1"), absl::StatusCode::kInvalidArgument);
}

TEST_F(OciLayoutTest, WhatIsNoLayoutIsInvalid) {
  EXPECT_EQ(CodeOf(""), absl::StatusCode::kInvalidArgument);
  for (const char* text : {"", "[]", "{", "7", R"({"manifests":7})"}) {
    WriteText(folder_.path() / "index.json", text);
    EXPECT_EQ(CodeOf("v1"), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST_F(OciLayoutTest, ADigestIsNoPath) {
  for (const std::string& digest : {std::string("../../../etc/passwd"), std::string(64, '.'),
                                    std::string(), std::string(63, 'a')}) {
    Index(Descriptor(digest, Tag("v1")));
    EXPECT_EQ(CodeOf("v1"), absl::StatusCode::kInvalidArgument) << digest;
  }
}

TEST_F(OciLayoutTest, ALayerWithoutAnHonestSizeIsInvalid) {
  Index(Descriptor(kManifestDigest, Tag("v1")));
  for (const char* layer : {"{}", R"({"size":-1})", R"({"size":9223372036854775807})", "3"}) {
    Blob(kManifestDigest, fmt::format(R"({{"layers":[{}]}})", layer));
    EXPECT_EQ(CodeOf("v1"), absl::StatusCode::kInvalidArgument) << layer;
  }
}

TEST_F(OciLayoutTest, AnArchiveIsReadLikeItsFolder) {
  Index(Descriptor(kManifestDigest, Tag("v1")));
  Blob(kManifestDigest, R"({"layers":[{"size":3}]})");
  TempFolder archives;
  for (const char* names : {"index.json blobs", "."}) {
    const std::string archive = archives.path() / "image.tar";
    const std::string command =
        fmt::format("tar -C {} -cf {} {}", folder_.path().native(), archive, names);
    ASSERT_EQ(std::system(command.c_str()), 0);
    const auto image = OciLayout(archive, true).Find("v1");
    ASSERT_TRUE(image.ok()) << image.status();
    EXPECT_EQ(image->layer_bytes, 3);
  }
}

TEST_F(OciLayoutTest, WhatIsNoArchiveIsInvalid) {
  const std::filesystem::path file = folder_.path() / "image.tar";
  for (const std::string& text :
       {std::string("junk"), std::string(4096, 'x'), std::string(4096, '\0')}) {
    WriteText(file, text);
    EXPECT_EQ(OciLayout(file, true).Find("v1").status().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace houtu::testing
