// Pieces of a file that start and end at line ends, so that no line is read by two tasks or none.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace houtu::agent {

struct FilePiece {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

/// The lines that start in [offset, offset + length): a piece that starts after 0 begins behind the
/// first line end at or after offset - 1, and goes on to its last line's end. Pieces whose ranges
/// follow each other give every byte once, also where one line is longer than several ranges (then
/// some are empty). As ErrnoError says.
absl::StatusOr<FilePiece> LinesOf(int fd, int64_t offset, int64_t length);

}  // namespace houtu::agent
