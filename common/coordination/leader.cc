#include "common/coordination/leader.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "common/log/log.h"

namespace houtu::coordination {
namespace {

std::optional<Leader> LeaderOf(const std::string& path, const std::optional<Node>& node) {
  if (!node.has_value()) return std::nullopt;
  std::optional<LeaderRecord> record = ParseLeader(node->data);
  if (!record.has_value()) {
    LogError("leader record is malformed", {{"election", path}, {"bytes", node->data.size()}});
    return std::nullopt;
  }
  return std::move(record->leader);
}

}  // namespace

std::string FormatLeader(const LeaderRecord& record) {
  return fmt::format("{} {}\n{}", record.leader.term, record.node, record.leader.candidate);
}

std::optional<LeaderRecord> ParseLeader(std::string_view data) {
  const size_t blank = data.find(' ');
  const size_t line_end = data.find('\n');
  if (blank == data.npos || line_end == data.npos || line_end < blank) return std::nullopt;
  LeaderRecord record;
  const char* const term_end = data.data() + blank;
  const auto [end, error] = std::from_chars(data.data(), term_end, record.leader.term);
  if (error != std::errc() || end != term_end) return std::nullopt;
  record.node = data.substr(blank + 1, line_end - blank - 1);
  record.leader.candidate = data.substr(line_end + 1);
  return record;
}

LeaderWatch::LeaderWatch(Coordination* coordination, const std::string& path,
                         LeaderCallback callback)
    : watch_(coordination, path + "/leader",
             [path, callback = std::move(callback)](const std::optional<Node>& node) {
               callback(LeaderOf(path, node));
             }) {}

}  // namespace houtu::coordination
