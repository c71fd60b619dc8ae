// Text of strangers (task output, job names) made harmless for a terminal: what could move the
// cursor, change colours or reorder what is read is shown as an escape like \x1b (cases C23, C29).
#pragma once

#include <string>
#include <string_view>

namespace houtu::client {

/// A stream that arrives in pieces; a character cut by a piece's end waits for the next piece.
/// Newlines and tabs pass, "\r\n" becomes "\n". Holds at most 3 bytes.
class SafeTextStream {
 public:
  std::string Feed(std::string_view piece);
  /// What is left at the end of the stream.
  std::string Finish();

 private:
  std::string Convert(std::string_view text, bool at_end);

  std::string held_;
};

/// One line for a table cell or a message: newlines and tabs are escaped too.
std::string SafeLine(std::string_view text);

}  // namespace houtu::client
