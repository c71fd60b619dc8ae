// Structured logs: one line per event on standard error, `time level event key=value …`. Values
// with blanks, quotes or control characters are quoted and escaped, so that one event is always one
// line.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace houtu {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// A key with its value as text.
struct LogField {
  template <typename T>
  LogField(std::string_view key_in, const T& value_in)
      : key(key_in), value(fmt::format("{}", value_in)) {}
  LogField(std::string_view key_in, const absl::Status& status)
      : key(key_in), value(status.ToString()) {}
  std::string_view key;
  std::string value;
};

/// Sets the least level written and the process's name in every line ("master", "agent"). Call
/// once, first. `level`: debug, info, warning, error; another text or none is info.
void InitLogging(std::string_view process, std::string_view level);

/// Writes one line; thread-safe. Log(LogLevel::kInfo, "lease granted", {{"lease", id}, {"node",
/// node}}).
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

inline void LogDebug(std::string_view e, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kDebug, e, f);
}
inline void LogInfo(std::string_view e, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kInfo, e, f);
}
inline void LogWarning(std::string_view e, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kWarning, e, f);
}
inline void LogError(std::string_view e, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kError, e, f);
}

/// `value` as it stands in a line: quoted and escaped where needed.
std::string LogValue(std::string_view value);

}  // namespace houtu
