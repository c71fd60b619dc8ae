#include "client/command/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/text/json_text.h"
#include "client/text/safe_text.h"
#include "client/text/yaml_text.h"
#include "common/base/status.h"
#include "common/yaml/json.h"

namespace houtu::client {
namespace {

std::string ErrorJson(const absl::Status& status, const std::string& details) {
  return fmt::format(R"({{"error":{{"code":{},"message":{},"retryable":{},"details":{}}}}})",
                     JsonString(absl::StatusCodeToString(status.code())),
                     JsonString(Message(status)), IsRetryable(status), details);
}

std::string JsonObject(const std::map<std::string, std::string>& members) {
  std::string out;
  for (const auto& [key, value] : members) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", JsonString(key), JsonString(value));
  }
  return "{" + out + "}";
}

std::string ProblemJson(const std::string& file, const yaml::Problem& problem) {
  return fmt::format(R"({{"file":{},"line":{},"column":{},"path":{},"text":{}}})", JsonString(file),
                     problem.line, problem.column, JsonString(problem.path),
                     JsonString(problem.text));
}

int TerminalWidth(int fd) {
  struct winsize size = {};
  const bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

void Console::PrintJson(const std::string& json) const {
  *out << (format == Format::kYaml ? JsonToYaml(json) : json + "\n");
}

void Console::PrintMessage(const google::protobuf::Message& message) const {
  PrintJson(yaml::ToJson(message));
}

void Console::Note(const std::string& line) const { *err << SafeLine(line) + "\n" << std::flush; }

ExitStatus Console::Fail(const absl::Status& status, Purpose purpose,
                         const std::map<std::string, std::string>& details) const {
  if (format == Format::kJson) {
    *err << ErrorJson(status, JsonObject(details)) << "\n";
  } else {
    // A message may have several lines (a list of what a prefix means): each is made safe.
    std::string text = "error: ";
    for (const char c : Message(status)) {
      text += c;
      if (c == '\n') {
        text.pop_back();
        Note(text);
        text = "  ";
      }
    }
    Note(text);
  }
  return ExitStatusOf(status, purpose);
}

ExitStatus Console::FailProblems(const std::string& file,
                                 const std::vector<yaml::Problem>& problems) const {
  if (format != Format::kJson) {
    for (const yaml::Problem& problem : problems) {
      Note(yaml::Describe(file, problem));
    }
    return ExitStatus::kBadUsage;
  }
  std::vector<std::string> items;
  for (const yaml::Problem& problem : problems) {
    items.push_back(ProblemJson(file, problem));
  }
  const absl::Status status =
      Error(absl::StatusCode::kInvalidArgument, "{} has {} problem(s)", file, problems.size());
  *err << ErrorJson(status, fmt::format(R"({{"problems":{}}})", JsonList(items))) << "\n";
  return ExitStatus::kBadUsage;
}

Console StandardConsole() {
  const bool err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  return {.out = &std::cout,
          .err = &std::cerr,
          .out_is_terminal = ::isatty(STDOUT_FILENO) == 1,
          .err_is_terminal = err_is_terminal,
          .err_width = TerminalWidth(STDERR_FILENO),
          .colour = err_is_terminal && (no_colour == nullptr || *no_colour == '\0')};
}

std::string JsonList(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ","));
}

}  // namespace houtu::client
