#include "agent/core/exit_reason.h"

#include <fmt/format.h>

#include <cstring>

#include "absl/time/time.h"
#include "common/base/resources.h"
#include "common/base/time.h"

namespace houtu::agent {
namespace {

std::string DescribeExit(const TaskExit& exit) {
  if (exit.signal != 0) {
    const char* name = sigabbrev_np(exit.signal);
    return fmt::format("ended by signal {} (SIG{})", exit.signal, name == nullptr ? "?" : name);
  }
  return fmt::format("exit status {}", exit.exit_status);
}

}  // namespace

ExitReason ReasonOf(const TaskExit& exit, const TaskUsage& usage, const v1::TaskSpec& spec) {
  if (exit.timed_out) {
    return {v1::TASK_END_REASON_TIMED_OUT,
            fmt::format("ran longer than its timeout of {}",
                        absl::FormatDuration(FromProto(spec.timeout())))};
  }
  if (exit.stopped) {
    return {v1::TASK_END_REASON_STOPPED, "stopped by command"};
  }
  if (exit.signal == 0 && exit.exit_status == 0) {
    return {v1::TASK_END_REASON_SUCCEEDED, ""};
  }
  if (usage.out_of_memory) {
    return {v1::TASK_END_REASON_OUT_OF_MEMORY,
            fmt::format("used more than its memory limit of {} ({})",
                        DescribeBytes(spec.resources().memory_bytes()), DescribeExit(exit))};
  }
  return {v1::TASK_END_REASON_FAILED, DescribeExit(exit)};
}

}  // namespace houtu::agent
