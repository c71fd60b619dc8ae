#include "common/log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace houtu {
namespace {

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("houtu",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    return made;
  }();
  return *logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void InitLogging(std::string_view process, std::string_view level) {
  Logger().set_pattern(fmt::format("%Y-%m-%dT%H:%M:%S.%eZ %l {} %v", process),
                       spdlog::pattern_time_type::utc);
  Logger().set_level(level == "debug"     ? spdlog::level::debug
                     : level == "warning" ? spdlog::level::warn
                     : level == "error"   ? spdlog::level::err
                                          : spdlog::level::info);
  Logger().flush_on(spdlog::level::debug);
}

std::string LogValue(std::string_view value) {
  bool plain = !value.empty();
  for (const unsigned char c : value) {
    plain = plain && c > 0x20 && c != '"' && c != '=' && c != '\\' && c != 0x7f;
  }
  if (plain) {
    return std::string(value);
  }
  std::string out = "\"";
  for (const unsigned char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + '"';
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  const auto spdlog_level = ToSpdlog(level);
  if (!Logger().should_log(spdlog_level)) {
    return;
  }
  std::string line = LogValue(event);
  for (const LogField& field : fields) {
    line += fmt::format(" {}={}", field.key, LogValue(field.value));
  }
  Logger().log(spdlog_level, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace houtu
