// "Did you mean": the nearest right word for a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace houtu::yaml {

/// The one of `right` that is nearest to `written` by edit distance (case costs nothing), if it is
/// near enough to be meant: at most a third of its letters differ. Else "".
std::string Nearest(std::string_view written, const std::vector<std::string>& right);

/// ` (did you mean "command"?)`, or "" where nothing is near.
std::string DidYouMean(std::string_view written, const std::vector<std::string>& right);

}  // namespace houtu::yaml
