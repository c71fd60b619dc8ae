#include "tests/agent/runtime/contract_fixture.h"

#include <algorithm>
#include <chrono>

namespace houtu::testing {
namespace {

constexpr auto kWait = std::chrono::seconds(30);

}  // namespace

void Ends::AddExit(const agent::TaskExit& exit) {
  const std::lock_guard lock(mutex_);
  exits_.push_back(exit);
  changed_.notify_all();
}

void Ends::AddContainerEnd() {
  const std::lock_guard lock(mutex_);
  ++container_ends_;
  changed_.notify_all();
}

std::optional<agent::TaskExit> Ends::AwaitExit(const AttemptKey& id) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kWait, [&] { return Find(id).has_value(); });
  return Find(id);
}

bool Ends::AwaitContainerEnd() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kWait, [&] { return container_ends_ > 0; });
}

int Ends::CountOf(const AttemptKey& id) {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count_if(exits_.begin(), exits_.end(),
                                        [&id](const auto& exit) { return exit.id == id; }));
}

std::optional<agent::TaskExit> Ends::Find(const AttemptKey& id) const {
  const auto it =
      std::find_if(exits_.begin(), exits_.end(), [&id](const auto& exit) { return exit.id == id; });
  return it == exits_.end() ? std::nullopt : std::optional(*it);
}

void RuntimeContract::SetUp() {
  std::string why_not;
  node_ = RuntimeUnderTest::Make(&why_not);
  if (node_ == nullptr) GTEST_SKIP() << why_not;
  spec_ = node_->Spec("dc1.1.1");
}

void RuntimeContract::TearDown() {
  if (node_ == nullptr) return;
  runtime().Unwatch(spec_.lease_id);
  EXPECT_TRUE(runtime().DestroyContainer(spec_.lease_id, spec_.lease_dir).ok());
}

void RuntimeContract::StartContainer() {
  const absl::Status status = runtime().StartContainer(spec_);
  ASSERT_TRUE(status.ok()) << status;
  Watch();
}

void RuntimeContract::Watch() {
  const absl::Status status = runtime().Watch(
      spec_.lease_id, spec_.lease_dir,
      [ends = ends_](const agent::TaskExit& exit) { ends->AddExit(exit); },
      [ends = ends_] { ends->AddContainerEnd(); });
  ASSERT_TRUE(status.ok()) << status;
}

agent::ContainerState RuntimeContract::State() {
  const absl::StatusOr<agent::ContainerState> state =
      runtime().Inspect(spec_.lease_id, spec_.lease_dir);
  EXPECT_TRUE(state.ok()) << state.status();
  return state.value_or(agent::ContainerState::kAbsent);
}

agent::TaskLaunch RuntimeContract::Launch(int task, Program program) {
  return {.id = Key(task),
          .lease_id = spec_.lease_id,
          .command = node_->Command(program),
          .env = {"PATH=/usr/bin:/bin"},
          .working_dir = "/houtu/t/stage." + std::to_string(task) + ".1/work",
          .limits = Resources(0, 32 << 20),
          .pids_max = 16,
          .log_bytes_max = 64 << 10};
}

absl::Status RuntimeContract::Start(const agent::TaskLaunch& launch) {
  node_->PrepareTask(spec_, launch.id);
  return runtime().StartTask(spec_.lease_dir, launch);
}

agent::TaskExit RuntimeContract::Run(const agent::TaskLaunch& launch) {
  const absl::Status started = Start(launch);
  EXPECT_TRUE(started.ok()) << started;
  if (!started.ok()) return {};
  const std::optional<agent::TaskExit> exit = ends_->AwaitExit(launch.id);
  EXPECT_TRUE(exit.has_value()) << Describe(launch.id) << " has not ended";
  return exit.value_or(agent::TaskExit{});
}

}  // namespace houtu::testing
