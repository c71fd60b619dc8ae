// Receiver: takes an agent's FileChunk stream and writes the files that were asked for, each
// checked against its size and SHA-256 before it appears. Trusts no header.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/outputs/output_folder.h"
#include "houtu/v1/client_service.pb.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::client {

/// SHA-256 of data that comes in pieces.
class Sha256Stream {
 public:
  Sha256Stream();
  void Add(std::string_view data);
  /// 32 raw bytes; ends the stream.
  std::string Finish();

 private:
  struct Deleter {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Deleter> context_;
};

/// Of one stream and one thread. `folder` outlives it.
class Receiver {
 public:
  /// The files that the stream may bring; all of one stage.
  Receiver(const OutputFolder* folder, std::vector<v1::OutputFile> wanted);

  /// DATA_LOSS: the bytes are not those that were committed; INTERNAL: the agent sent what was not
  /// asked for; and OutputFolder's codes.
  absl::Status Take(const v1::FileChunk& chunk);

  /// The files that have not arrived whole, in the order given.
  std::vector<v1::OutputFile> Missing() const;

 private:
  using Key = std::pair<int, std::string>;  // task, name

  struct Current {
    Key key;
    PendingFile file;
    v1::FileHeader header;
    Sha256Stream hash;
    int64_t bytes = 0;
  };

  absl::Status Begin(const v1::FileHeader& header);
  absl::Status End();

  const OutputFolder* const folder_;
  std::map<Key, v1::OutputFile> wanted_;
  std::optional<Current> current_;
};

}  // namespace houtu::client
