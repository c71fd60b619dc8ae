#include "agent/images/tar_member.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "agent/partitions/files.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kNameBytes = 100;
constexpr size_t kSizeAt = 124;
constexpr size_t kSizeBytes = 12;
constexpr size_t kTypeAt = 156;
constexpr size_t kMagicAt = 257;
constexpr std::string_view kMagic = "ustar";
/// More members than an image has blobs.
constexpr int kMembersMax = 100'000;

struct Header {
  std::string name;
  int64_t size = 0;
  bool is_file = false;
};

/// Octal digits, or (first bit set) a big-endian number.
std::optional<int64_t> ParseSize(const char* field) {
  int64_t value = 0;
  if ((field[0] & 0x80) != 0) {
    for (size_t i = kSizeBytes - 8; i < kSizeBytes; ++i) {
      value = (value << 8) | static_cast<unsigned char>(field[i]);
    }
    return value >= 0 ? std::optional(value) : std::nullopt;
  }
  for (size_t i = 0; i < kSizeBytes && field[i] != '\0' && field[i] != ' '; ++i) {
    if (field[i] < '0' || field[i] > '7') return std::nullopt;
    value = value * 8 + (field[i] - '0');
  }
  return value;
}

std::optional<Header> ParseHeader(const char* block) {
  if (std::string_view(block + kMagicAt, kMagic.size()) != kMagic) return std::nullopt;
  const std::optional<int64_t> size = ParseSize(block + kSizeAt);
  if (!size) return std::nullopt;
  const char type = block[kTypeAt];
  return Header{.name = std::string(block, strnlen(block, kNameBytes)),
                .size = *size,
                .is_file = type == '0' || type == '\0'};
}

absl::Status NotAnArchive(const std::filesystem::path& archive) {
  return Error(absl::StatusCode::kInvalidArgument, "{}: not an uncompressed tar archive",
               archive.native());
}

absl::StatusOr<std::string> ReadAt(int fd, int64_t offset, int64_t size,
                                   const std::filesystem::path& archive) {
  std::string text(static_cast<size_t>(size), '\0');
  const ssize_t n = pread(fd, text.data(), text.size(), offset);
  if (n < 0) return ErrnoError(errno, archive.native());
  if (n != static_cast<ssize_t>(text.size())) return NotAnArchive(archive);
  return text;
}

}  // namespace

absl::StatusOr<std::string> ReadTarMember(const std::filesystem::path& archive,
                                          std::string_view name, size_t bytes_max) {
  const Fd fd(open(archive.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError(errno, archive.native());
  int64_t offset = 0;
  for (int i = 0; i < kMembersMax; ++i) {
    char block[kBlock];
    const ssize_t n = pread(fd.get(), block, kBlock, offset);
    if (n < 0) return ErrnoError(errno, archive.native());
    // Two blocks of zeros end an archive; some writers leave it at the file's end.
    if (n == 0 || (n == kBlock && block[0] == '\0' && i > 0)) break;
    const std::optional<Header> header = n == kBlock ? ParseHeader(block) : std::nullopt;
    if (!header) return NotAnArchive(archive);
    offset += kBlock;
    const bool is_it = header->name == name || header->name == "./" + std::string(name);
    if (is_it && header->is_file) {
      if (header->size <= static_cast<int64_t>(bytes_max)) {
        return ReadAt(fd.get(), offset, header->size, archive);
      }
      return Error(absl::StatusCode::kInvalidArgument, "{}: {} has {} bytes, more than {}",
                   archive.native(), name, header->size, bytes_max);
    }
    if (header->size > INT64_MAX - offset - static_cast<int64_t>(kBlock)) {
      return NotAnArchive(archive);
    }
    offset += (header->size + kBlock - 1) / kBlock * kBlock;
  }
  return Error(absl::StatusCode::kNotFound, "{}: no {} in it", archive.native(), name);
}

}  // namespace houtu::agent
