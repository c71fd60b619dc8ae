#include "agent/partitions/file_receiver.h"

#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {

absl::Status FileReceiver::Take(const v1::FileChunk& chunk) {
  if (chunk.has_header()) {
    HOUTU_RETURN_IF_ERROR(Begin(chunk.header()));
  }
  if (!sum_) {
    return absl::InvalidArgumentError("the stream sent bytes before a file's header");
  }
  received_ += static_cast<int64_t>(chunk.data().size());
  if (received_ > header_.size_bytes()) {
    // Before they are written: a sender that goes on and on must not fill the disk.
    return Error(absl::StatusCode::kDataLoss, "{} of task {}: more than its {} bytes came",
                 LogValue(header_.name()), header_.task(), header_.size_bytes());
  }
  HOUTU_RETURN_IF_ERROR(WriteAll(fd_.get(), chunk.data()));
  sum_->Add(chunk.data());
  bytes_ += static_cast<int64_t>(chunk.data().size());
  return chunk.last() ? Finish() : absl::OkStatus();
}

absl::Status FileReceiver::Begin(const v1::FileHeader& header) {
  const std::string& name = header.name();
  if (sum_ || name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
    return Error(absl::StatusCode::kInvalidArgument, "the stream sent a file {} out of place",
                 LogValue(name));
  }
  const std::filesystem::path folder = folder_ / std::to_string(header.task());
  HOUTU_RETURN_IF_ERROR(MakeFolders(folder));
  HOUTU_ASSIGN_OR_RETURN(fd_, CreateFile(folder / name));
  header_ = header;
  received_ = 0;
  sum_.emplace();
  return absl::OkStatus();
}

absl::Status FileReceiver::Finish() {
  const std::string sum = sum_->Take();
  sum_.reset();
  fd_ = Fd();
  if (received_ != header_.size_bytes() || (!header_.sha256().empty() && sum != header_.sha256())) {
    return Error(absl::StatusCode::kDataLoss,
                 "{} of task {}: {} bytes came of {}, or their checksum is wrong",
                 LogValue(header_.name()), header_.task(), received_, header_.size_bytes());
  }
  files_[header_.task()].push_back(header_.name());
  return absl::OkStatus();
}

absl::Status FileReceiver::End() const {
  if (sum_) {
    return Error(absl::StatusCode::kDataLoss, "the stream ended in the middle of {}",
                 LogValue(header_.name()));
  }
  return absl::OkStatus();
}

}  // namespace houtu::agent
