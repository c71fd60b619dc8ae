#include "agent/service/input_stream.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "agent/partitions/line_split.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

/// The bytes of the file that the input names.
absl::StatusOr<FilePiece> PieceOf(int fd, const v1::RawInput& input) {
  struct stat st;
  if (fstat(fd, &st) != 0) {
    return ErrnoError(errno, input.path());
  }
  if (!input.has_length_bytes() && input.offset_bytes() <= 0) {
    return FilePiece{.begin = 0, .end = st.st_size};
  }
  return LinesOf(fd, input.offset_bytes(),
                 input.has_length_bytes() ? input.length_bytes() : st.st_size);
}

}  // namespace

absl::StatusOr<FileStream> OpenInput(const DataRoots& roots, const v1::RawInput& input) {
  HOUTU_ASSIGN_OR_RETURN(Fd fd, roots.Open(input.path()));
  HOUTU_ASSIGN_OR_RETURN(const FilePiece piece, PieceOf(fd.get(), input));
  FileStream::Entry entry{.begin = piece.begin};
  entry.header.set_name(std::filesystem::path(input.path()).filename().native());
  entry.header.set_size_bytes(piece.size());
  auto opened = std::make_shared<Fd>(std::move(fd));
  entry.open = [opened]() -> absl::StatusOr<Fd> { return std::move(*opened); };
  std::vector<FileStream::Entry> entries;
  entries.push_back(std::move(entry));
  return FileStream(std::move(entries));
}

}  // namespace houtu::agent
