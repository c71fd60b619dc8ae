#include "agent/partitions/files.h"

#include <fcntl.h>
#include <google/protobuf/stubs/common.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "common/base/check.h"
#include "common/base/status.h"

namespace houtu::agent {

namespace fs = std::filesystem;

Fd::~Fd() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

Sha256Sum::Sha256Sum() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  HOUTU_CHECK(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1, "SHA-256 is there");
}

void Sha256Sum::Add(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

std::string Sha256Sum::Take() {
  std::string sum(32, '\0');
  EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(sum.data()), nullptr);
  return sum;
}

absl::StatusOr<std::string> HashFile(int fd) {
  Sha256Sum sum;
  std::string piece(kPieceBytes, '\0');
  int64_t at = 0;
  while (true) {
    const ssize_t n = pread(fd, piece.data(), piece.size(), at);
    if (n < 0 && errno != EINTR) {
      return ErrnoError(errno, "read");
    }
    if (n == 0) {
      return sum.Take();
    }
    if (n > 0) {
      sum.Add({piece.data(), static_cast<size_t>(n)});
      at += n;
    }
  }
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) {
      return ErrnoError(errno, "write");
    }
    bytes.remove_prefix(n > 0 ? static_cast<size_t>(n) : 0);
  }
  return absl::OkStatus();
}

absl::Status CopyBytes(int from, int64_t offset, int64_t length, int to) {
  std::string piece(static_cast<size_t>(std::min<int64_t>(length, kPieceBytes)), '\0');
  while (length > 0) {
    const size_t want = std::min(piece.size(), static_cast<size_t>(length));
    const ssize_t n = pread(from, piece.data(), want, offset);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return ErrnoError(errno, "read");
    }
    if (n == 0) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "the file became shorter while it was read: {} bytes are missing", length);
    }
    HOUTU_RETURN_IF_ERROR(WriteAll(to, {piece.data(), static_cast<size_t>(n)}));
    offset += n;
    length -= n;
  }
  return absl::OkStatus();
}

absl::StatusOr<Fd> CreateFile(const fs::path& path) {
  Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444));
  if (!fd.valid()) {
    return ErrnoError(errno, path.native());
  }
  return fd;
}

absl::Status MakeFolders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? ErrnoError(error.value(), folder.native()) : absl::OkStatus();
}

absl::Status RemoveTree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? ErrnoError(error.value(), path.native()) : absl::OkStatus();
}

bool IsUtf8(std::string_view text) {
  return google::protobuf::internal::IsStructurallyValidUTF8(text.data(),
                                                             static_cast<int>(text.size()));
}

}  // namespace houtu::agent
