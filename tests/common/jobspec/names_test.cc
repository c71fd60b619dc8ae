#include "common/jobspec/names.h"

#include <gtest/gtest.h>

namespace houtu::jobspec {
namespace {

TEST(NamesTest, ImagesAreTheHostOrALocalPath) {
  for (const char* good : {"host", "oci:/images/py", "oci:/images/py:3.11", "oci:/a b/c.tar:v1"}) {
    EXPECT_EQ(CheckImage(good), "") << good;
  }
  for (const char* bad : {"", "Host", "oci:", "oci:py", "oci:/a/../b", "oci:/a:", "oci:/a:-t",
                          "oci:/a:b/c", "docker:py"}) {
    EXPECT_NE(CheckImage(bad), "") << bad;
  }
}

TEST(NamesTest, InputsAreAbsoluteWithPatternsInTheirNames) {
  for (const char* good :
       {"/a", "/data/part-*", "/data/p?rt-[0-9]", "/x/[]]", "/x/[!]a]", "/a b", "/x;touch y"}) {
    EXPECT_EQ(CheckInputPath(good), "") << good;
  }
  for (const char* bad :
       {"", "a", "/", "/a/", "/a//b", "/a/./b", "/a/../b", "/..", "/a/**/b", "/a/[b", "/a/[b/c]"}) {
    EXPECT_NE(CheckInputPath(bad), "") << bad;
  }
}

TEST(NamesTest, JobNamesAreCountedInCharacters) {
  std::string umlauts;
  for (int i = 0; i < 200; ++i) {
    umlauts += "ü";
  }
  EXPECT_EQ(CheckJobName(umlauts), "");
  EXPECT_NE(CheckJobName(umlauts + "ü"), "");
  EXPECT_EQ(CheckJobName("a\"b\\c"), "");
  EXPECT_NE(CheckJobName("a\nb"), "");
  EXPECT_NE(CheckJobName("a\xC2\x9Bm"), "") << "a terminal's escape in one character";
}

TEST(NamesTest, FilesInAnOutputFolderAreOnePartOfAPath) {
  for (const char* good : {"0", "-n", "it's.csv", "..."}) {
    EXPECT_EQ(CheckFileName(good), "") << good;
  }
  for (const char* bad : {"", ".", "..", "a/b"}) {
    EXPECT_NE(CheckFileName(bad), "") << bad;
  }
}

TEST(NamesTest, PlainNamesBecomePartsOfPaths) {
  for (const char* good : {"a", "S1", "_x", "0", "a.b-c_d"}) {
    EXPECT_EQ(CheckPlainName(good), "") << good;
  }
  for (const char* bad : {"", ".", "..", "-a", ".a", "a b", "a/b", "é"}) {
    EXPECT_NE(CheckPlainName(bad), "") << bad;
  }
  EXPECT_NE(CheckPlainName(std::string(65, 'a')), "");
}

}  // namespace
}  // namespace houtu::jobspec
