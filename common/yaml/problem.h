// A problem of something that a person wrote: what is wrong, where, and what to write instead. A
// file's problems are reported all at once, in the order of the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace houtu::yaml {

struct Problem {
  int line = 0;      // from 1; 0: not a place in the file (--set, or a job that came over the wire)
  int column = 0;    // from 1, in characters
  std::string path;  // "stages[1].command"; empty: the whole file
  std::string text;  // "what is wrong; what to write instead"

  bool operator==(const Problem&) const = default;
};

/// Problems beyond this many of one file are counted, not listed.
inline constexpr int kProblemsMax = 100;

/// "FILE:LINE:COL: KEY.PATH: text"; without a place "FILE: KEY.PATH: text".
std::string Describe(std::string_view file, const Problem& problem);

/// One line per problem, each ended by a newline.
std::string DescribeAll(std::string_view file, const std::vector<Problem>& problems);

/// OK without problems, else INVALID_ARGUMENT with all of them, one a line.
absl::Status ToStatus(std::string_view file, const std::vector<Problem>& problems);

/// In the order of the file; those without a place first. Cuts the list at kProblemsMax, with one
/// last problem that tells how many there were.
void SortAndLimit(std::vector<Problem>* problems);

/// `text` as it may stand in a message: in double quotes, control characters escaped, cut at about
/// 60 bytes.
std::string Quote(std::string_view text);

}  // namespace houtu::yaml
