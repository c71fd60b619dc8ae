#include "client/outputs/receiver.h"

#include <openssl/evp.h>

#include "client/text/safe_text.h"
#include "common/base/check.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

EVP_MD_CTX* AsContext(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

void Sha256Stream::Deleter::operator()(void* context) const { EVP_MD_CTX_free(AsContext(context)); }

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
  HOUTU_CHECK(EVP_DigestInit_ex(AsContext(context_.get()), EVP_sha256(), nullptr) == 1,
              "OpenSSL has SHA-256");
}

void Sha256Stream::Add(std::string_view data) {
  EVP_DigestUpdate(AsContext(context_.get()), data.data(), data.size());
}

std::string Sha256Stream::Finish() {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  EVP_DigestFinal_ex(AsContext(context_.get()), reinterpret_cast<unsigned char*>(digest.data()),
                     &size);
  digest.resize(size);
  return digest;
}

Receiver::Receiver(const OutputFolder* folder, std::vector<v1::OutputFile> wanted)
    : folder_(folder) {
  for (v1::OutputFile& file : wanted) {
    Key key(file.task(), file.name());
    wanted_.emplace(std::move(key), std::move(file));
  }
}

absl::Status Receiver::Take(const v1::FileChunk& chunk) {
  if (chunk.has_header()) {
    HOUTU_RETURN_IF_ERROR(Begin(chunk.header()));
  }
  if (!current_.has_value()) {
    return absl::InternalError("the agent sent bytes of no file");
  }
  current_->bytes += static_cast<int64_t>(chunk.data().size());
  if (current_->bytes > current_->header.size_bytes()) {
    return Error(absl::StatusCode::kDataLoss, "{}: more bytes than were committed ({})",
                 SafeLine(current_->header.name()), current_->header.size_bytes());
  }
  current_->hash.Add(chunk.data());
  HOUTU_RETURN_IF_ERROR(current_->file.Write(chunk.data()));
  return chunk.last() ? End() : absl::OkStatus();
}

absl::Status Receiver::Begin(const v1::FileHeader& header) {
  if (current_.has_value()) {
    return absl::InternalError("the agent began a file within another");
  }
  const auto wanted = wanted_.find({header.task(), header.name()});
  if (wanted == wanted_.end() || wanted->second.attempt() != header.attempt() ||
      wanted->second.size_bytes() != header.size_bytes()) {
    return Error(absl::StatusCode::kInternal, "the agent sent what was not asked for: {}/{}#{}",
                 header.task(), SafeLine(header.name()), header.attempt());
  }
  HOUTU_ASSIGN_OR_RETURN(PendingFile file, folder_->Begin(wanted->second));
  current_.emplace(
      Current{.key = wanted->first, .file = std::move(file), .header = header, .hash = {}});
  return absl::OkStatus();
}

absl::Status Receiver::End() {
  Current done = std::move(*current_);
  current_.reset();
  if (done.bytes != done.header.size_bytes() || done.hash.Finish() != done.header.sha256()) {
    return Error(absl::StatusCode::kDataLoss,
                 "{}: {} of {} bytes came, or not those that were committed",
                 SafeLine(done.header.name()), done.bytes, done.header.size_bytes());
  }
  HOUTU_RETURN_IF_ERROR(done.file.Commit());
  wanted_.erase(done.key);
  return absl::OkStatus();
}

std::vector<v1::OutputFile> Receiver::Missing() const {
  std::vector<v1::OutputFile> missing;
  for (const auto& [key, file] : wanted_) {
    missing.push_back(file);
  }
  return missing;
}

}  // namespace houtu::client
