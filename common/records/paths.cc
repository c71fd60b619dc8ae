#include "common/records/paths.h"

#include <fmt/format.h>

#include <charconv>

namespace houtu {

std::string RecordPaths::Assignment(std::string_view job, std::string_view stage,
                                    std::string_view dc, int chunk) const {
  return fmt::format("{}/a-{}-{}", Stage(job, stage), dc, chunk);
}

std::string RecordPaths::Finished(std::string_view job, std::string_view stage, std::string_view dc,
                                  int chunk) const {
  return fmt::format("{}/f-{}-{}", Stage(job, stage), dc, chunk);
}

std::string RecordPaths::Events(std::string_view job, std::string_view dc, int number) const {
  return fmt::format("{}/events-{}-{}", Job(job), dc, number);
}

std::optional<ChunkName> ParseChunkName(std::string_view name) {
  ChunkName out;
  if (name.starts_with("a-") || name.starts_with("f-")) {
    out.kind = name.front();
    name.remove_prefix(2);
  } else if (name.starts_with("events-")) {
    out.kind = 'e';
    name.remove_prefix(7);
  } else {
    return std::nullopt;
  }
  // A datacenter's name may hold "-": the number is what follows the last one.
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(dash + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), out.number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  out.datacenter = std::string(name.substr(0, dash));
  return out;
}

}  // namespace houtu
