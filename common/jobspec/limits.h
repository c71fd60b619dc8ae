// The limits of a job. Each is named in the message that refuses a job for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace houtu::jobspec {

/// A serialized job, in bytes. Its ZooKeeper record also holds its state and must stay below 512
/// KiB, half of what ZooKeeper takes (C11).
inline constexpr size_t kJobBytesMax = 384 << 10;
/// Characters of a job's name.
inline constexpr size_t kJobNameCharactersMax = 200;
/// Bytes of the name of a stage, an account, a datacenter, a node or a kind of resource.
inline constexpr size_t kNameBytesMax = 64;
/// Stages of a job.
inline constexpr int kStagesMax = 1000;
/// Tasks of one stage, and of all stages of a job together.
inline constexpr int kTasksMax = 100'000;
/// Arguments of a command, the program included (C05).
inline constexpr int kArgumentsMax = 4096;
/// Bytes of one argument or environment variable: the kernel's MAX_ARG_STRLEN with its ending NUL.
inline constexpr size_t kArgumentBytesMax = (128 << 10) - 1;
/// Environment variables of the job, and of a stage.
inline constexpr int kVariablesMax = 4096;
/// Bytes of a path, as the kernel's PATH_MAX, and of one name in it.
inline constexpr size_t kPathBytesMax = 4095;
inline constexpr size_t kFileNameBytesMax = 255;
/// Declared outputs of a stage.
inline constexpr int kOutputsMax = 1000;
/// Cores, memory and further resources of one task, so that sums over all tasks fit 64 bits.
inline constexpr int64_t kCpuMillisMax = 1'000'000;
inline constexpr int64_t kMemoryBytesMax = int64_t{64} << 40;
inline constexpr int64_t kMemoryBytesMin = int64_t{6} << 20;
inline constexpr int64_t kCustomMax = 1'000'000;
/// Bid and budget, in micro-credits.
inline constexpr int64_t kMicrocreditsMax = 1'000'000'000'000'000;
/// Attempts of a task.
inline constexpr int kAttemptsMax = 100;

}  // namespace houtu::jobspec
