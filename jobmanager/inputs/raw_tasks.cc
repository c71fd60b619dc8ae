#include "jobmanager/inputs/raw_tasks.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "common/base/status.h"
#include "jobmanager/core/limits.h"

namespace houtu::jobmanager {
namespace {

using Copies = std::vector<const v1::InputFile*>;

std::string NodesOf(const Copies& copies) {
  std::string text;
  for (const v1::InputFile* copy : copies) {
    text +=
        fmt::format("{}{} ({} bytes)", text.empty() ? "" : ", ", copy->node(), copy->size_bytes());
  }
  return text;
}

absl::Status CheckAlike(const v1::Input& input, const Copies& copies) {
  const v1::InputFile& first = *copies.front();
  const bool alike = std::ranges::all_of(copies, [&](const v1::InputFile* copy) {
    return copy->size_bytes() == first.size_bytes() &&
           copy->modified_at_ms() == first.modified_at_ms();
  });
  if (alike) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kFailedPrecondition,
               "input {} in {}: the file differs between the nodes {}; name one with \"node\"",
               first.path(), input.datacenter(), NodesOf(copies));
}

int64_t PiecesOf(const v1::Input& input, int64_t size_bytes) {
  if (!input.has_split_bytes() || input.split_bytes() <= 0 || size_bytes <= input.split_bytes()) {
    return 1;
  }
  return (size_bytes - 1) / input.split_bytes() + 1;
}

v1::RawInput Piece(const v1::Input& input, const v1::InputFile& file) {
  v1::RawInput raw;
  raw.set_datacenter(input.datacenter());
  raw.set_node(file.node());
  raw.set_agent_address(file.agent_address());
  raw.set_path(file.path());
  raw.set_residency(input.residency() == v1::RESIDENCY_ANYWHERE ? v1::RESIDENCY_ANYWHERE
                                                                : v1::RESIDENCY_DATACENTER);
  return raw;
}

absl::Status TooMany(const v1::Input& input) {
  const char* advice =
      input.has_split_bytes() ? "raise \"split\" or name fewer files" : "name fewer files";
  return Error(absl::StatusCode::kResourceExhausted,
               "input {} in {}: its files make more than {} tasks; {}", input.path(),
               input.datacenter(), kStageTasksMax, advice);
}

// Pieces of nearly the same size, so that no last one is tiny.
absl::Status AddPieces(const v1::Input& input, const Copies& copies,
                       std::vector<v1::RawInput>* tasks) {
  const int64_t size_bytes = copies.front()->size_bytes();
  const int64_t pieces = PiecesOf(input, size_bytes);
  if (pieces > kStageTasksMax - static_cast<int64_t>(tasks->size())) {
    return TooMany(input);
  }
  for (int64_t piece = 0; piece < pieces; ++piece) {
    v1::RawInput raw = Piece(input, *copies[tasks->size() % copies.size()]);
    if (pieces > 1) {
      const auto at = [&](int64_t n) {
        return static_cast<int64_t>(static_cast<__int128>(size_bytes) * n / pieces);
      };
      raw.set_offset_bytes(at(piece));
      raw.set_length_bytes(at(piece + 1) - at(piece));
    }
    tasks->push_back(std::move(raw));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsPattern(std::string_view path) { return path.find_first_of("*?[") != path.npos; }

absl::StatusOr<std::vector<v1::RawInput>> RawTasks(const v1::Input& input,
                                                   const v1::InputFiles& listed) {
  std::map<std::string, Copies> by_path;
  for (const v1::InputFile& file : listed.files()) {
    by_path[file.path()].push_back(&file);
  }
  if (by_path.empty() && !IsPattern(input.path())) {
    return Error(absl::StatusCode::kNotFound, "input {} in {}: {}", input.path(),
                 input.datacenter(),
                 input.node().empty() ? std::string("no node has such a file")
                                      : fmt::format("node {} has no such file", input.node()));
  }
  std::vector<v1::RawInput> tasks;
  for (auto& [path, copies] : by_path) {
    std::ranges::sort(copies, {}, [](const v1::InputFile* copy) { return copy->node(); });
    HOUTU_RETURN_IF_ERROR(CheckAlike(input, copies));
    HOUTU_RETURN_IF_ERROR(AddPieces(input, copies, &tasks));
  }
  return tasks;
}

}  // namespace houtu::jobmanager
