// Descriptors, copies and checksums: what the partition store and the inputs are built of.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace houtu::agent {

/// Bytes read and written at a time: bounds the memory of every transfer.
inline constexpr size_t kPieceBytes = 256 << 10;

/// A file descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// SHA-256 of bytes that come in pieces.
class Sha256Sum {
 public:
  Sha256Sum();
  void Add(std::string_view bytes);
  /// 32 raw bytes; call once, last.
  std::string Take();

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// SHA-256 of the whole file, 32 raw bytes. As ErrnoError says.
absl::StatusOr<std::string> HashFile(int fd);

/// Appends bytes [offset, offset + length) of `from` to `to`; a file that ends earlier is
/// FAILED_PRECONDITION. As ErrnoError says.
absl::Status CopyBytes(int from, int64_t offset, int64_t length, int to);

absl::Status WriteAll(int fd, std::string_view bytes);

/// A new file (it must not exist), mode 0444, open for writing. As ErrnoError says.
absl::StatusOr<Fd> CreateFile(const std::filesystem::path& path);

/// Makes the folder and its parents; OK if it exists. As ErrnoError says.
absl::Status MakeFolders(const std::filesystem::path& folder);

/// Deletes the tree without following links; OK if it is not there. As ErrnoError says.
absl::Status RemoveTree(const std::filesystem::path& path);

/// Whether `text` is valid UTF-8: protobuf can't carry another.
bool IsUtf8(std::string_view text);

}  // namespace houtu::agent
