#include "common/rpc/identity.h"

#include <gtest/gtest.h>

namespace houtu {
namespace {

TEST(IdentityTest, EachRoleIsReadFromItsUri) {
  EXPECT_EQ(*ParseIdentity("houtu:master/dc1"),
            (Identity{.role = Role::kMaster, .datacenter = "dc1"}));
  EXPECT_EQ(*ParseIdentity("houtu:agent/dc1/n1"),
            (Identity{.role = Role::kAgent, .datacenter = "dc1", .node = "n1"}));
  EXPECT_EQ(*ParseIdentity("houtu:manager/dc1/n1"),
            (Identity{.role = Role::kManager, .datacenter = "dc1", .node = "n1"}));
  EXPECT_EQ(*ParseIdentity("houtu:client/alice"),
            (Identity{.role = Role::kClient, .account = "alice"}));
  EXPECT_EQ(*ParseIdentity("houtu:admin/root"),
            (Identity{.role = Role::kAdmin, .account = "root"}));
}

TEST(IdentityTest, WhatIsNotExactlyARoleIsNobody) {
  for (const char* uri :
       {"", "houtu:", "houtu:master", "houtu:master/", "houtu:master/dc1/n1", "houtu:agent/dc1",
        "houtu:agent//n1", "houtu:agent/dc1/n1/x", "houtu:manager/dc1/", "houtu:client/",
        "houtu:client/a/b", "houtu:root/x", "Houtu:client/alice", "https://client/alice",
        " houtu:client/alice", "houtu:CLIENT/alice"}) {
    const auto identity = ParseIdentity(uri);
    EXPECT_TRUE(absl::IsUnauthenticated(identity.status())) << uri;
  }
}

TEST(IdentityTest, AClientUsesItsOwnAccountAndAnAdminEvery) {
  const Identity alice = *ParseIdentity("houtu:client/alice");
  EXPECT_TRUE(alice.MayUseAccount("alice"));
  EXPECT_FALSE(alice.MayUseAccount("bob"));
  EXPECT_FALSE(alice.MayUseAccount(""));
  EXPECT_TRUE(ParseIdentity("houtu:admin/root")->MayUseAccount("bob"));
  for (const char* daemon :
       {"houtu:master/alice", "houtu:agent/alice/n", "houtu:manager/alice/n"}) {
    EXPECT_FALSE(ParseIdentity(daemon)->MayUseAccount("alice")) << daemon;
    EXPECT_FALSE(ParseIdentity(daemon)->IsClient()) << daemon;
  }
}

}  // namespace
}  // namespace houtu
