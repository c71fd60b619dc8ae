// Console: where a command's data, progress and errors go. stdout is data, stderr is everything
// else.
#pragma once

#include <google/protobuf/message.h>

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/exit_status.h"
#include "common/yaml/problem.h"

namespace houtu::client {

enum class Format { kTable, kWide, kJson, kYaml, kName };

/// Owner: main. One thread at a time.
struct Console {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  /// Of the terminal on stderr.
  int err_width = 80;
  /// On stderr: a terminal, and NO_COLOR is not set.
  bool colour = false;
  Format format = Format::kTable;

  bool IsStructured() const { return format == Format::kJson || format == Format::kYaml; }

  /// Writes a JSON document to stdout as it is, or as YAML with -o yaml.
  void PrintJson(const std::string& json) const;
  /// PrintJson of a message.
  void PrintMessage(const google::protobuf::Message& message) const;
  /// A line to stderr, made safe for a terminal.
  void Note(const std::string& line) const;

  /// Tells the error on stderr, as JSON with -o json; returns its exit status. `details` are
  /// members of the JSON's details.
  ExitStatus Fail(const absl::Status& status, Purpose purpose = Purpose::kOther,
                  const std::map<std::string, std::string>& details = {}) const;
  /// The problems of a file: all of them, each FILE:LINE:COL. Returns kBadUsage.
  ExitStatus FailProblems(const std::string& file,
                          const std::vector<yaml::Problem>& problems) const;
};

/// The process's own standard streams.
Console StandardConsole();

/// Joins messages' JSON texts: "[a,b]".
std::string JsonList(const std::vector<std::string>& items);

}  // namespace houtu::client
