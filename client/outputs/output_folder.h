// OutputFolder: DIR/<stage>/<task>/<name>, written so that a file is there whole or not at all, and
// so that no name, however chosen, leads out of DIR.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "houtu/v1/client_service.pb.h"

namespace houtu::client {

/// A file descriptor that is closed with its owner.
class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  ~OwnedFd();
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.Release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept;
  int get() const { return fd_; }

 private:
  int Release();
  int fd_;
};

/// OK if `name` is a file's name within a folder: not empty, ".", "..", no "/" or NUL, at most 255
/// bytes; else INVALID_ARGUMENT. Every other byte is allowed and kept.
absl::Status CheckFileName(std::string_view name);

/// A file that is being received. It appears under its name by Commit; without it nothing is left.
class PendingFile {
 public:
  PendingFile(PendingFile&&) = default;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();

  /// RESOURCE_EXHAUSTED: the disk is full.
  absl::Status Write(std::string_view data);
  /// Syncs it and moves it to its place, over what stands there.
  absl::Status Commit();

 private:
  friend class OutputFolder;
  PendingFile() = default;

  OwnedFd root_;    // DIR, which holds the temporary file
  OwnedFd folder_;  // DIR/<stage>/<task>
  OwnedFd file_;
  std::string temporary_;  // its name in DIR; empty: committed or moved from
  std::string name_;
};

/// Thread-safe: the threads that fetch share it.
class OutputFolder {
 public:
  /// Makes the folder where it is missing (its parent must be there).
  static absl::StatusOr<OutputFolder> Open(const std::string& path);

  /// Starts DIR/<stage>/<task>/<name>. INVALID_ARGUMENT: a name that is none; FAILED_PRECONDITION:
  /// a folder of the path is a link or no folder.
  absl::StatusOr<PendingFile> Begin(const v1::OutputFile& file) const;

 private:
  explicit OutputFolder(OwnedFd root) : root_(std::move(root)) {}

  OwnedFd root_;
};

}  // namespace houtu::client
