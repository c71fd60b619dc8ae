// Which tasks' logs are meant: JOB[/STAGE[/TASK]], or the parts one by one.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace houtu::client {

struct LogTarget {
  /// Id, prefix or name, as given.
  std::string job;
  /// Empty: all stages.
  std::string stage;
  /// Unset: all tasks.
  std::optional<int> task;

  bool operator==(const LogTarget&) const = default;
};

/// One word is taken apart from its end (a job's name may hold "/", a stage's may not); two or
/// three are job, stage and task. INVALID_ARGUMENT: not such a form.
absl::StatusOr<LogTarget> ParseLogTarget(std::span<const std::string> words);

/// How much of a log's end is wanted; neither: all.
struct LogTail {
  std::optional<int> lines;
  std::optional<int64_t> bytes;

  bool operator==(const LogTail&) const = default;
};

/// "100": lines; "64Ki", "1Mi", "500B": bytes. INVALID_ARGUMENT: neither.
absl::StatusOr<LogTail> ParseLogTail(const std::string& text);

}  // namespace houtu::client
