// LastLines: the last lines of a text that streams by, in bounded memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace houtu::client {

class LastLines {
 public:
  /// Most bytes kept; longer lines lose their start.
  static constexpr size_t kBytesMax = 1 << 20;

  explicit LastLines(int lines) : lines_(lines) {}

  void Add(std::string_view data);
  /// The last lines; a last line without a newline counts as one.
  std::string Take() const;

 private:
  const int lines_;
  std::string kept_;
};

}  // namespace houtu::client
