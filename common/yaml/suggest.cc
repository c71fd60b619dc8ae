#include "common/yaml/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace houtu::yaml {
namespace {

constexpr size_t kWordBytesMax = 64;  // longer words are no typing errors

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Edit distance in which two neighbours that changed places count once.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      current[j] =
          std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
          Lower(a[i - 2]) == Lower(b[j - 1])) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

}  // namespace

std::string Nearest(std::string_view written, const std::vector<std::string>& right) {
  std::string best;
  size_t best_distance = kWordBytesMax;
  if (written.empty() || written.size() > kWordBytesMax) {
    return best;
  }
  for (const std::string& word : right) {
    if (word.size() > kWordBytesMax) {
      continue;
    }
    const size_t distance = Distance(written, word);
    if (distance < best_distance && distance * 3 <= word.size()) {
      best = word;
      best_distance = distance;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view written, const std::vector<std::string>& right) {
  const std::string nearest = Nearest(written, right);
  return nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest);
}

}  // namespace houtu::yaml
