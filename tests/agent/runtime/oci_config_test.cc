#include "agent/runtime/oci_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>

namespace houtu::testing {
namespace {

using nlohmann::json;

json Config(const agent::ContainerSpec& spec) {
  return json::parse(agent::OciConfig(spec, {.executor = "/opt/houtu/houtu-executor",
                                             .cgroups_path = "/houtu/dc1.1.1",
                                             .masked_paths = {"/var/lib/houtu"}}));
}

agent::ContainerSpec Spec() {
  return {.lease_id = "dc1.1.1",
          .lease_dir = "/work/leases/dc1.1.1",
          .rootfs = "/work/leases/dc1.1.1/image/root",
          .limits = Resources(500, 64 << 20),
          .uid_base = 200000};
}

std::set<std::string> Namespaces(const json& config) {
  std::set<std::string> types;
  for (const json& entry : config["linux"]["namespaces"]) types.insert(entry["type"]);
  return types;
}

const json& MountAt(const json& config, const std::string& target) {
  for (const json& mount : config["mounts"]) {
    if (mount["destination"] == target) return mount;
  }
  static const json none;
  return none;
}

TEST(OciConfigTest, AContainerIsOfItsAccountsUsersAlone) {
  const json config = Config(Spec());
  const json expected = json::parse(R"([{"containerID":0,"hostID":200000,"size":65536}])");
  EXPECT_EQ(config["linux"]["uidMappings"], expected);
  EXPECT_EQ(config["linux"]["gidMappings"], expected);
}

TEST(OciConfigTest, ItHasNoRightsAndNoProcessLimits) {
  const json config = Config(Spec());
  EXPECT_TRUE(config["root"]["readonly"]);
  EXPECT_TRUE(config["process"]["noNewPrivileges"]);
  for (const auto& [set, names] : config["process"]["capabilities"].items()) {
    EXPECT_EQ(names, json::array()) << set;
  }
  EXPECT_FALSE(config["process"].contains("rlimits"));
}

TEST(OciConfigTest, TheNetworkIsItsOwnUnlessTheHostsIsAskedFor) {
  agent::ContainerSpec spec = Spec();
  EXPECT_EQ(Namespaces(Config(spec)),
            (std::set<std::string>{"ipc", "mount", "network", "pid", "user", "uts"}));
  spec.network = v1::NETWORK_HOST;
  EXPECT_EQ(Namespaces(Config(spec)),
            (std::set<std::string>{"ipc", "mount", "pid", "user", "uts"}));
}

TEST(OciConfigTest, ItSeesItsLeasesFolderAndTheBindsAskedFor) {
  agent::ContainerSpec spec = Spec();
  spec.binds = {{.source = "/srv/data", .target = "/data"}};
  const json config = Config(spec);
  EXPECT_EQ(MountAt(config, "/houtu")["source"], "/work/leases/dc1.1.1/io");
  EXPECT_EQ(MountAt(config, "/houtu-executor")["source"], "/opt/houtu/houtu-executor");
  EXPECT_EQ(MountAt(config, "/data")["options"], json::parse(R"(["bind","nosuid","nodev","ro"])"));
  const json& masked = config["linux"]["maskedPaths"];
  EXPECT_NE(std::find(masked.begin(), masked.end(), "/var/lib/houtu"), masked.end());
}

TEST(OciConfigTest, Clone3IsUnknownSoThatLibrariesTakeCloneInstead) {
  const json seccomp = Config(Spec())["linux"]["seccomp"];
  EXPECT_EQ(seccomp["defaultAction"], "SCMP_ACT_ALLOW");
  int rules = 0;
  for (const json& rule : seccomp["syscalls"]) {
    if (rule["names"] != json::array({"clone3"})) continue;
    EXPECT_EQ(rule["errnoRet"], ENOSYS);
    ++rules;
  }
  EXPECT_EQ(rules, 1);
}

}  // namespace
}  // namespace houtu::testing
