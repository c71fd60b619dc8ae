#include "agent/runtime/lease_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace houtu::testing {
namespace {

using agent::ParseFolderName;
using agent::ParseStatus;

const AttemptKey kKey = {.job = "j", .stage = "a.b", .task = 7, .attempt = 2};
constexpr char kStatus[] =
    "exit_status=-1\nsignal=9\ntimed_out=1\nstopped=0\nstarted_unix_ns=1000\nended_unix_ns=2000\n"
    "unknown=5\n";

TEST(LeaseFolderTest, AFolderNameIsTheAttemptAgain) {
  EXPECT_EQ(ParseFolderName(FolderName(kKey), "j"), kKey);
}

TEST(LeaseFolderTest, WhatIsNoFolderNameIsNoAttempt) {
  for (const char* name : {"", ".", "..", "a", "a.1", ".1.2", "a.x.1", "a.1.x", "a.1."}) {
    EXPECT_EQ(ParseFolderName(name, "j"), std::nullopt) << name;
  }
}

TEST(LeaseFolderTest, AStatusIsReadAndUnknownKeysArePassedOver) {
  const std::optional<agent::TaskExit> exit = ParseStatus(kStatus, kKey);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->id, kKey);
  EXPECT_EQ(exit->exit_status, -1);
  EXPECT_EQ(exit->signal, 9);
  EXPECT_TRUE(exit->timed_out);
  EXPECT_FALSE(exit->stopped);
  EXPECT_EQ(exit->ended_at - exit->started_at, absl::Nanoseconds(1000));
}

TEST(LeaseFolderTest, AStatusThatATaskForgedBadlyIsNone) {
  for (const char* text : {"", "junk", "exit_status=0\n", "exit_status=x\nsignal=0\n"}) {
    EXPECT_EQ(ParseStatus(text, kKey), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace houtu::testing
