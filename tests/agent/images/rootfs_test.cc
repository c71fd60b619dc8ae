// Real mounts, and images made by umoci.
#include "agent/images/rootfs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "agent/runtime/subprocess.h"
#include "tests/agent/images/temp_folder.h"

namespace houtu::testing {
namespace {

namespace fs = std::filesystem;
using agent::ImageRootfs;
using ::testing::HasSubstr;
using ::testing::Not;

class RootfsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "mounts can be made by root alone";
    if (!agent::RunProgramOk({.argv = {"umoci", "--version"}}).ok()) GTEST_SKIP() << "no umoci";
    fs::create_directories(images());
    fs::create_directories(lease());
  }
  void TearDown() override {
    for (const fs::path& folder : leases_) EXPECT_TRUE(Make().Release(folder).ok());
    EXPECT_THAT(ReadText("/proc/self/mounts"), Not(HasSubstr(folder_.path().native())));
  }

  fs::path images() const { return folder_.path() / "roots"; }
  fs::path unpacked() const { return folder_.path() / "work/images"; }
  fs::path lease(int number = 1) {
    leases_.push_back(folder_.path() / "work/leases" / std::to_string(number));
    return leases_.back();
  }
  ImageRootfs Make() const {
    return ImageRootfs({.images_dir = unpacked(), .image_roots = {images()}});
  }
  static void Run(std::vector<std::string> argv) {
    const absl::StatusOr<std::string> output = agent::RunProgramOk({.argv = std::move(argv)});
    ASSERT_TRUE(output.ok()) << output.status();
  }
  /// An image "v1" at roots/app with a file that root alone may read, a link as resolv.conf, and a
  /// device.
  void MakeImage() {
    const fs::path tree = folder_.path() / "tree";
    WriteText(tree / "app/secret", "s");
    chmod((tree / "app/secret").c_str(), 0600);
    fs::create_directories(tree / "etc");
    fs::create_symlink("/run/resolv.conf", tree / "etc/resolv.conf");
    mknod((tree / "app/device").c_str(), S_IFCHR | 0666, 0x103);
    Run({"umoci", "init", "--layout", images() / "app"});
    Run({"umoci", "new", "--image", (images() / "app").native() + ":v1"});
    Run({"umoci", "insert", "--image", (images() / "app").native() + ":v1", tree, "/"});
  }
  std::string App(const std::string& tag) { return "oci:" + (images() / "app").native() + tag; }
  std::string OnlyDigest() {
    const std::string index = ReadText(images() / "app/index.json");
    return index.substr(index.find("sha256:") + 7, 64);
  }

  TempFolder folder_;
  std::vector<fs::path> leases_;
};

TEST_F(RootfsTest, TheHostsImageIsTheHostsFilesAndWritesStayAway) {
  ImageRootfs rootfs = Make();
  const absl::StatusOr<fs::path> root = rootfs.Prepare("host", lease());
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_EQ(ReadText(*root / "etc/passwd"), ReadText("/etc/passwd"));
  EXPECT_TRUE(fs::is_directory(*root / "houtu"));
  EXPECT_TRUE(fs::is_regular_file(*root / "houtu-executor"));
  EXPECT_FALSE(fs::exists("/houtu-executor"));
  ASSERT_TRUE(rootfs.Release(lease()).ok());
  EXPECT_FALSE(fs::exists(lease() / "image"));
  EXPECT_TRUE(rootfs.Release(lease()).ok());
}

TEST_F(RootfsTest, AnotherObjectReleasesWhatOneHasMounted) {
  ASSERT_TRUE(Make().Prepare("host", lease()).ok());
  EXPECT_THAT(ReadText("/proc/self/mounts"), HasSubstr(lease().native()));
  EXPECT_TRUE(Make().Release(lease()).ok());
  EXPECT_THAT(ReadText("/proc/self/mounts"), Not(HasSubstr(lease().native())));
}

TEST_F(RootfsTest, PreparedAgainAnotherImageIsThere) {
  MakeImage();
  ImageRootfs rootfs = Make();
  ASSERT_TRUE(rootfs.Prepare("host", lease()).ok());
  const absl::StatusOr<fs::path> root = rootfs.Prepare(App(":v1"), lease());
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_TRUE(fs::exists(*root / "app/secret"));
  EXPECT_FALSE(fs::exists(*root / "usr"));
}

TEST_F(RootfsTest, AnImageIsReadableByAnyUserAndHasTheNodesNames) {
  MakeImage();
  const absl::StatusOr<fs::path> root = Make().Prepare(App(":v1"), lease());
  ASSERT_TRUE(root.ok()) << root.status();
  struct stat info;
  ASSERT_EQ(stat((*root / "app/secret").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  EXPECT_EQ(ReadText(*root / "etc/resolv.conf"), ReadText("/etc/resolv.conf"));
  ASSERT_EQ(stat(unpacked().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(RootfsTest, AnImagesDeviceOpensNothing) {
  MakeImage();
  const absl::StatusOr<fs::path> root = Make().Prepare(App(":v1"), lease());
  ASSERT_TRUE(root.ok()) << root.status();
  ASSERT_TRUE(fs::is_character_file(*root / "app/device"));
  EXPECT_FALSE(std::ifstream(*root / "app/device").is_open());
}

TEST_F(RootfsTest, LeasesAtOnceUnpackAnImageOnce) {
  MakeImage();
  ImageRootfs rootfs = Make();
  constexpr int kLeases = 4;
  std::vector<absl::Status> statuses(kLeases);
  std::vector<std::thread> threads;
  for (int i = 0; i < kLeases; ++i) {
    const fs::path folder = lease(i);
    fs::create_directories(folder);
    threads.emplace_back(
        [&, i, folder] { statuses[i] = rootfs.Prepare(App(""), folder).status(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(std::distance(fs::directory_iterator(unpacked()), {}), 1);
  EXPECT_TRUE(fs::exists(unpacked() / OnlyDigest() / "rootfs"));
}

TEST_F(RootfsTest, WhatADeadAgentLeftHalfUnpackedIsThrownAway) {
  MakeImage();
  WriteText(unpacked() / (OnlyDigest() + ".new") / "rootfs/half", "");
  const absl::StatusOr<fs::path> root = Make().Prepare(App(":v1"), lease());
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_FALSE(fs::exists(*root / "half"));
}

TEST_F(RootfsTest, OfUnpackedImagesTheUnusedGo) {
  MakeImage();
  for (const char* old : {"older", "old"}) WriteText(unpacked() / old / "rootfs/x", "");
  fs::last_write_time(unpacked() / "older",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::last_write_time(unpacked() / "old", fs::file_time_type::clock::now() - std::chrono::hours(1));
  ImageRootfs rootfs({.images_dir = unpacked(), .image_roots = {images()}, .images_max = 1});
  ASSERT_TRUE(rootfs.Prepare(App(":v1"), lease(1)).ok());
  EXPECT_FALSE(fs::exists(unpacked() / "older"));
  EXPECT_TRUE(fs::exists(unpacked() / "old"));
  // The one in use is older than none by its folder's time; it stays, the other goes.
  fs::last_write_time(unpacked() / OnlyDigest(), fs::file_time_type::min());
  fs::create_directories(lease(2));
  ASSERT_TRUE(rootfs.Prepare(App(":v1"), lease(2)).ok());
  EXPECT_FALSE(fs::exists(unpacked() / "old"));
  EXPECT_TRUE(fs::exists(unpacked() / OnlyDigest() / "rootfs/app/secret"));
}

TEST_F(RootfsTest, AnArchiveIsAnImageToo) {
  MakeImage();
  Run({"tar", "-C", images() / "app", "-cf", images() / "app.tar", "."});
  const absl::StatusOr<fs::path> root =
      Make().Prepare("oci:" + (images() / "app.tar").native() + ":v1", lease());
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_TRUE(fs::exists(*root / "app/secret"));
}

TEST_F(RootfsTest, ImagesOutsideTheRootsAreDenied) {
  MakeImage();
  fs::create_directory_symlink("/etc", images() / "link");
  for (const std::string& name :
       {std::string("oci:/etc"), "oci:" + images().native() + "/../work:v1",
        "oci:" + images().native() + "/link/x", std::string("oci:app:v1"),
        "oci:" + images().native() + "-other", std::string("oci:")}) {
    EXPECT_EQ(Make().Prepare(name, lease()).status().code(), absl::StatusCode::kPermissionDenied)
        << name;
  }
}

TEST_F(RootfsTest, AnAbsentImageOrTagIsNotFoundAndAnOddNameInvalid) {
  MakeImage();
  EXPECT_EQ(Make().Prepare("oci:" + (images() / "none").native(), lease()).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Make().Prepare(App(":v2"), lease()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Make().Prepare("docker:x", lease()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(fs::exists(lease() / "image"));
}

TEST_F(RootfsTest, ABrokenLayerIsInvalidWithUmocisFirstError) {
  MakeImage();
  for (const auto& blob : fs::directory_iterator(images() / "app/blobs/sha256")) {
    const bool is_json = ReadText(blob.path()).starts_with("{");
    if (!is_json) WriteText(blob.path(), "junk");
  }
  const absl::Status status = Make().Prepare(App(":v1"), lease()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("umoci: create rootfs: "));
  EXPECT_TRUE(fs::is_empty(unpacked()));
}

TEST_F(RootfsTest, AnImageLargerThanMayBeIsNamed) {
  MakeImage();
  ImageRootfs rootfs({.images_dir = unpacked(), .image_roots = {images()}, .image_bytes_max = 10});
  const absl::Status status = rootfs.Prepare(App(":v1"), lease()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 10"));
}

}  // namespace
}  // namespace houtu::testing
