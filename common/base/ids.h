// Identifiers: jobs, attempts. A process number is never a name.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "houtu/v1/task.pb.h"

namespace houtu {

/// A task of a job: its stage and its number there.
struct TaskKey {
  std::string stage;
  int task = 0;
  auto operator<=>(const TaskKey&) const = default;
};

/// One try at a task, as a value with an order (AttemptId is the message).
struct AttemptKey {
  std::string job;
  std::string stage;
  int task = 0;
  int attempt = 0;

  auto operator<=>(const AttemptKey&) const = default;
};

AttemptKey KeyOf(const v1::AttemptId& id);
v1::AttemptId ToProto(const AttemptKey& key);

/// "stage/7#2": how an attempt reads in messages and logs (without the job).
std::string Describe(const AttemptKey& key);

/// "stage.7.2": the attempt's folder name below its job's; stage names hold no "/" (see
/// common/jobspec).
std::string FolderName(const AttemptKey& key);

/// A new job id: "j" and 19 of [0-9a-z]; the first 9 rise with time, the rest is random.
std::string NewJobId();

/// Whether `id` has the form of a job id.
bool IsJobId(std::string_view id);

/// `bytes` random bytes from the system's generator, raw.
std::string RandomBytes(int bytes);

/// SHA-256 of `data`: 32 raw bytes.
std::string Sha256(std::string_view data);

/// Lower-case hexadecimal.
std::string Hex(std::string_view bytes);

}  // namespace houtu
