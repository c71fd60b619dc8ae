#include "agent/service/file_stream.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {

absl::StatusOr<v1::FileChunk> FileStream::Next() {
  const Entry& entry = entries_[next_];
  v1::FileChunk chunk;
  if (!fd_.valid()) {
    HOUTU_ASSIGN_OR_RETURN(fd_, entry.open());
    *chunk.mutable_header() = entry.header;
  }
  const int64_t left = entry.header.size_bytes() - sent_;
  std::string& data = *chunk.mutable_data();
  data.resize(std::min(left, static_cast<int64_t>(kPieceBytes)));
  size_t filled = 0;
  while (filled < data.size()) {
    const ssize_t n = pread(fd_.get(), data.data() + filled, data.size() - filled,
                            entry.begin + sent_ + static_cast<int64_t>(filled));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return ErrnoError(errno, LogValue(entry.header.name()));
    }
    if (n == 0) {
      return Error(absl::StatusCode::kDataLoss, "{} is shorter than its {} bytes",
                   LogValue(entry.header.name()), entry.header.size_bytes());
    }
    filled += static_cast<size_t>(n);
  }
  sent_ += static_cast<int64_t>(data.size());
  if (sent_ == entry.header.size_bytes()) {
    chunk.set_last(true);
    fd_ = Fd();
    sent_ = 0;
    ++next_;
  }
  return chunk;
}

}  // namespace houtu::agent
