#include "client/logs/log_target.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "client/text/safe_text.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

std::vector<std::string> SplitFromEnd(const std::string& word) {
  const size_t last = word.rfind('/');
  if (last == std::string::npos) {
    return {word};
  }
  const std::string head = word.substr(0, last);
  const std::string tail = word.substr(last + 1);
  const size_t middle = head.rfind('/');
  if (ParseNumber<int>(tail).has_value() && middle != std::string::npos) {
    return {head.substr(0, middle), head.substr(middle + 1), tail};
  }
  return {head, tail};
}

}  // namespace

absl::StatusOr<LogTarget> ParseLogTarget(std::span<const std::string> words) {
  const std::vector<std::string> parts = words.size() == 1
                                             ? SplitFromEnd(words[0])
                                             : std::vector<std::string>(words.begin(), words.end());
  const bool empty =
      std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); });
  if (parts.empty() || parts.size() > 3 || empty) {
    return absl::InvalidArgumentError("expected JOB[/STAGE[/TASK]] or JOB STAGE TASK");
  }
  LogTarget target{.job = parts[0], .stage = parts.size() > 1 ? parts[1] : ""};
  if (parts.size() == 3) {
    target.task = ParseNumber<int>(parts[2]);
    if (!target.task.has_value()) {
      return Error(absl::StatusCode::kInvalidArgument, "task \"{}\": expected a number from 0",
                   SafeLine(parts[2]));
    }
  }
  return target;
}

absl::StatusOr<LogTail> ParseLogTail(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 4> kUnits = {
      {{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"B", 1}}};
  if (const auto lines = ParseNumber<int>(text); lines.has_value() && *lines > 0) {
    return LogTail{.lines = lines};
  }
  for (const auto& [unit, factor] : kUnits) {
    if (!text.ends_with(unit)) {
      continue;
    }
    const auto count =
        ParseNumber<int32_t>(std::string_view(text).substr(0, text.size() - unit.size()));
    if (count.has_value() && *count > 0) {
      return LogTail{.bytes = *count * factor};
    }
  }
  return Error(absl::StatusCode::kInvalidArgument,
               "\"{}\": expected a number of lines (100) or an amount of bytes (64Ki, 500B)",
               SafeLine(text));
}

}  // namespace houtu::client
