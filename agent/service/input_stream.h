// A raw input of this node as the chunks of one answer.
#pragma once

#include "absl/status/statusor.h"
#include "agent/partitions/data_roots.h"
#include "agent/service/file_stream.h"
#include "houtu/v1/task.pb.h"

namespace houtu::agent {

/// One file: the input, or the piece of it. It has no checksum: nobody has read it yet, and reading
/// it twice would cost as much as sending it. As DataRoots::Open; as ErrnoError says. Blocks on the
/// disk.
absl::StatusOr<FileStream> OpenInput(const DataRoots& roots, const v1::RawInput& input);

}  // namespace houtu::agent
