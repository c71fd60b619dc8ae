#include <csignal>

#include "tests/agent/runtime/fake_runtime.h"
#include "tests/agent/runtime/runtime_under_test.h"

namespace houtu::testing {
namespace {

std::shared_ptr<FakeNode> MakeNode() {
  auto node = std::make_shared<FakeNode>();
  node->programs = {
      {"succeeds", {}},
      {"exits-with-3", {.exit_status = 3}},
      {"lasts", {.lasts = true}},
      {"ignores-term", {.lasts = true, .ignores_term = true}},
      {"eats-memory",
       {.exit_status = -1,
        .signal = SIGKILL,
        .usage = {.memory_peak_bytes = 32 << 20, .out_of_memory = true}}},
      {"not-executable", {.start = absl::PermissionDeniedError("not-executable")}},
  };
  return node;
}

class FakeUnderTest : public RuntimeUnderTest {
 public:
  agent::ContainerRuntime& runtime() override { return *runtime_; }
  void Restart() override { runtime_ = std::make_unique<FakeRuntime>(node_); }

  agent::ContainerSpec Spec(const std::string& lease_id) override {
    return {.lease_id = lease_id, .lease_dir = "/fake/" + lease_id};
  }
  std::vector<std::string> Command(Program program) override {
    switch (program) {
      case Program::kSucceeds:
        return {"succeeds"};
      case Program::kExitsWith3:
        return {"exits-with-3"};
      case Program::kLasts:
        return {"lasts"};
      case Program::kIgnoresTerm:
        return {"ignores-term"};
      case Program::kEatsMemory:
        return {"eats-memory"};
      case Program::kAbsent:
        return {"absent"};
      case Program::kNotExecutable:
        return {"not-executable"};
    }
    return {};
  }
  void PrepareTask(const agent::ContainerSpec&, const AttemptKey&) override {}
  void AwaitIgnoresTerm(const agent::ContainerSpec&, const AttemptKey&) override {}
  void KillFirstProcess(const agent::ContainerSpec& spec) override {
    runtime_->EndContainer(spec.lease_dir);
  }

 private:
  std::shared_ptr<FakeNode> node_ = MakeNode();
  std::unique_ptr<FakeRuntime> runtime_ = std::make_unique<FakeRuntime>(node_);
};

}  // namespace

std::unique_ptr<RuntimeUnderTest> RuntimeUnderTest::Make(std::string*) {
  return std::make_unique<FakeUnderTest>();
}

}  // namespace houtu::testing
