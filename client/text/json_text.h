// JSON that is no message's: errors, and documents composed of several messages.
#pragma once

#include <string>
#include <string_view>

namespace houtu::client {

/// `text` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);

}  // namespace houtu::client
