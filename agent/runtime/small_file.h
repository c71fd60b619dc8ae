// Small files of the kernel's and of our own, read and written whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace houtu::agent {

/// The content, at most `bytes_max` of it. Never follows a link in the last place and takes regular
/// files alone, because some of them lie in folders that a task may write to. NOT_FOUND, or as
/// ErrnoError says; FAILED_PRECONDITION: no regular file.
absl::StatusOr<std::string> ReadSmallFile(const std::filesystem::path& path,
                                          size_t bytes_max = 64 << 10);

/// One write(2) to an existing file: how the kernel's control files want it.
absl::Status WriteControlFile(const std::filesystem::path& path, std::string_view text);

/// Writes a file of our own: whole or not at all (through a rename).
absl::Status WriteWholeFile(const std::filesystem::path& path, std::string_view text);

}  // namespace houtu::agent
