// What only real containers show: isolation, limits, logs, speed.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "agent/runtime/lease_folder.h"
#include "agent/runtime/subprocess.h"
#include "tests/agent/runtime/contract_fixture.h"
#include "tests/agent/runtime/runc_under_test.h"

namespace houtu::testing {

std::unique_ptr<RuntimeUnderTest> RuntimeUnderTest::Make(std::string* why_not) {
  return RuncUnderTest::MakeRunc(why_not);
}

namespace {

using ::testing::HasSubstr;

class RuncRuntimeTest : public RuntimeContract {
 protected:
  /// Runs a shell's script as task 1; what it wrote.
  std::string Output(const std::string& script) {
    agent::TaskLaunch launch = Launch(1, Program::kSucceeds);
    launch.command = {"sh", "-c", script};
    return OutputOf(launch);
  }

  std::string OutputOf(const agent::TaskLaunch& launch) {
    exit_ = Run(launch);
    std::ifstream file(agent::LeaseFolder(spec_.lease_dir).task(launch.id) / "log.head");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  agent::TaskExit exit_;
};

TEST_F(RuncRuntimeTest, ATaskGetsItsEnvironmentByteForByte) {
  StartContainer();
  agent::TaskLaunch launch = Launch(1, Program::kSucceeds);
  launch.command = {"/usr/bin/env", "-0"};
  launch.env = {"B=2", "A=line\none", "EMPTY=", "RAW=\xff\xfe \"$x\"", "A2==="};
  std::string expected;
  for (const std::string& entry : launch.env) expected += entry + '\0';
  EXPECT_EQ(OutputOf(launch), expected);
}

TEST_F(RuncRuntimeTest, ATasksLogHoldsBothItsOutputs) {
  StartContainer();
  EXPECT_EQ(Output("echo out; echo err >&2"), "out\nerr\n");
}

TEST_F(RuncRuntimeTest, TheRootCantBeWrittenTo) {
  StartContainer();
  EXPECT_EQ(Output("for f in /x /etc/x /usr/bin/x /houtu/x /houtu/ctl/../t/x; do"
                   "  touch $f 2>/dev/null || echo no; done"),
            "no\nno\nno\nno\nno\n");
}

TEST_F(RuncRuntimeTest, ATaskWritesToItsWorkingFolderAndTmp) {
  StartContainer();
  EXPECT_EQ(Output("set -e; echo a > b; echo c > /tmp/d; cat b /tmp/d; pwd"),
            "a\nc\n/houtu/t/stage.1.1/work\n");
}

TEST_F(RuncRuntimeTest, ATaskHasNoCapabilityAndCanGainNone) {
  StartContainer();
  EXPECT_EQ(Output("grep -E '^Cap|NoNewPrivs|Seccomp:' /proc/self/status | tr -d '\\t\\n'"),
            "CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000"
            "CapBnd:0000000000000000CapAmb:0000000000000000NoNewPrivs:1Seccomp:2");
}

TEST_F(RuncRuntimeTest, ATaskIsRootInsideAndAnAccountsUserOutside) {
  StartContainer();
  EXPECT_EQ(Output("id -u; : > mine"), "0\n");
  struct stat info;
  ASSERT_EQ(stat((agent::LeaseFolder(spec_.lease_dir).task(Key(1)) / "work/mine").c_str(), &info),
            0);
  EXPECT_EQ(info.st_uid, spec_.uid_base);
}

TEST_F(RuncRuntimeTest, ATaskMakesNoNamespace) {
  StartContainer();
  EXPECT_THAT(Output("unshare -U true; unshare -r true; exit 7"), HasSubstr("not permitted"));
}

TEST_F(RuncRuntimeTest, ThreadsWorkThoughClone3IsRefused) {
  StartContainer();
  // sort --parallel starts threads; dd and tar fork and read.
  EXPECT_EQ(Output("seq 1 300000 | sort -rn --parallel=2 -S 8M | head -1"), "300000\n");
}

TEST_F(RuncRuntimeTest, WithoutANetworkThereIsLoopbackAlone) {
  StartContainer();
  EXPECT_EQ(Output("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"), "lo\n");
}

TEST_F(RuncRuntimeTest, TheHostsNetworkIsTheHosts) {
  spec_.network = v1::NETWORK_HOST;
  StartContainer();
  std::ifstream file("/proc/net/dev");
  std::stringstream text;
  text << file.rdbuf();
  const std::string here = text.str();
  const auto lines = std::count(here.begin(), here.end(), '\n');
  EXPECT_EQ(Output("wc -l < /proc/net/dev"), std::to_string(lines) + "\n");
}

TEST_F(RuncRuntimeTest, OtherProcessesAndTheWorkFolderAreOutOfSight) {
  StartContainer();
  const std::string work = static_cast<RuncUnderTest&>(*node_).work_dir();
  EXPECT_EQ(Output("ls -d /proc/[0-9]* | grep -c /proc/1$; ls -A " + work), "1\n");
}

TEST_F(RuncRuntimeTest, ATaskForksNoMoreThanItMay) {
  StartContainer();
  agent::TaskLaunch launch = Launch(1, Program::kSucceeds);
  launch.command = {"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; echo never"};
  launch.pids_max = 4;
  EXPECT_THAT(OutputOf(launch), HasSubstr("annot fork"));
  EXPECT_NE(exit_.exit_status, 0);
  // What it left behind goes with it, and another task has all that it may.
  EXPECT_TRUE(runtime().ReapTask(spec_.lease_dir, Key(1)).ok());
  EXPECT_EQ(Run(Launch(2, Program::kSucceeds)).exit_status, 0);
}

TEST_F(RuncRuntimeTest, ATaskThatBreaksItsStatusFileStillEnds) {
  StartContainer();
  EXPECT_EQ(Output("echo junk > j; mv j ../status; exit 4"), "");
  EXPECT_EQ(exit_.exit_status, 4);
}

TEST_F(RuncRuntimeTest, AnImageWithoutTheExecutorsPlaceIsTheRuntimesFirstErrorLine) {
  spec_.rootfs = "/proc/self/fdinfo";
  const absl::Status status = runtime().StartContainer(spec_);
  EXPECT_THAT(status, HasCode(absl::StatusCode::kInternal));
  EXPECT_THAT(std::string(status.message()), ::testing::StartsWith("runc: "));
  EXPECT_EQ(State(), agent::ContainerState::kAbsent);
}

TEST_F(RuncRuntimeTest, ACpuSecondIsCounted) {
  StartContainer();
  Output("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
  const absl::StatusOr<agent::TaskUsage> usage = runtime().ReapTask(spec_.lease_dir, Key(1));
  ASSERT_TRUE(usage.ok());
  EXPECT_GT(usage->cpu_ms, 10);
  EXPECT_FALSE(usage->out_of_memory);
}

TEST_F(RuncRuntimeTest, ContainersOfSeveralLeasesStartAndEndAtOnce) {
  constexpr int kLeases = 6;
  std::vector<std::thread> threads;
  std::vector<absl::Status> statuses(kLeases);
  for (int i = 0; i < kLeases; ++i) {
    threads.emplace_back(
        [this, &status = statuses[i], spec = node_->Spec("dc1.1." + std::to_string(2 + i))] {
          status = runtime().StartContainer(spec);
          if (!status.ok()) return;
          node_->PrepareTask(spec, Key(1));
          agent::TaskLaunch launch = Launch(1, Program::kLasts);
          launch.lease_id = spec.lease_id;
          status = runtime().StartTask(spec.lease_dir, launch);
          status.Update(runtime().DestroyContainer(spec.lease_id, spec.lease_dir));
        });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
}

TEST_F(RuncRuntimeTest, AWorkFolderThatContainersCantEnterIsTold) {
  const std::filesystem::path work = static_cast<RuncUnderTest&>(*node_).work_dir();
  ASSERT_EQ(chmod(work.c_str(), 0700), 0);
  const absl::Status status = runtime().StartContainer(spec_);
  EXPECT_THAT(status, HasCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), HasSubstr("chmod o+x " + work.native()));
}

TEST_F(RuncRuntimeTest, AProgramOfAnOciImageRuns) {
  // The one static program at hand: it tells its usage.
  auto& node = static_cast<RuncUnderTest&>(*node_);
  const std::filesystem::path layout = node.image_root() / "app";
  std::filesystem::create_directories(node.image_root());
  for (const std::vector<std::string>& argv : std::vector<std::vector<std::string>>{
           {"umoci", "init", "--layout", layout},
           {"umoci", "new", "--image", layout.native() + ":v1"},
           {"umoci", "insert", "--image", layout.native() + ":v1",
            std::string(HOUTU_PROGRAM_DIR) + "/houtu-executor", "/app/program"}}) {
    const absl::Status made = agent::RunProgramOk({.argv = argv}).status();
    ASSERT_TRUE(made.ok()) << made;
  }
  const absl::StatusOr<std::filesystem::path> root =
      node.rootfs().Prepare("oci:" + layout.native() + ":v1", spec_.lease_dir);
  ASSERT_TRUE(root.ok()) << root.status();
  spec_.rootfs = *root;
  StartContainer();
  agent::TaskLaunch launch = Launch(1, Program::kSucceeds);
  launch.command = {"/app/program", "--no-such-flag"};
  EXPECT_THAT(OutputOf(launch), HasSubstr("usage: /app/program"));
  EXPECT_EQ(exit_.exit_status, 2);
  launch = Launch(2, Program::kSucceeds);
  EXPECT_THAT(Start(launch), HasCode(absl::StatusCode::kNotFound));
}

TEST_F(RuncRuntimeTest, ManyTasksRunOneAfterTheOtherInOneContainer) {
  constexpr int kTasks = 50;
  StartContainer();
  for (int task = 1; task <= kTasks; ++task) {
    node_->PrepareTask(spec_, Key(task));
    ASSERT_TRUE(runtime().StartTask(spec_.lease_dir, Launch(task, Program::kSucceeds)).ok());
    ASSERT_TRUE(ends_->AwaitExit(Key(task)).has_value());
    ASSERT_TRUE(runtime().ReapTask(spec_.lease_dir, Key(task)).ok());
  }
}

}  // namespace
}  // namespace houtu::testing
