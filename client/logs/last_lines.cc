#include "client/logs/last_lines.h"

namespace houtu::client {

void LastLines::Add(std::string_view data) {
  kept_ += data;
  if (kept_.size() > 2 * kBytesMax) {
    kept_.erase(0, kept_.size() - kBytesMax);
  }
}

std::string LastLines::Take() const {
  const std::string_view kept =
      std::string_view(kept_).substr(kept_.size() > kBytesMax ? kept_.size() - kBytesMax : 0);
  size_t start = kept.size();
  for (int line = 0; line < lines_ && start > 0; ++line) {
    const size_t newline = start < 2 ? kept.npos : kept.rfind('\n', start - 2);
    start = newline == kept.npos ? 0 : newline + 1;
  }
  return std::string(kept.substr(start));
}

}  // namespace houtu::client
