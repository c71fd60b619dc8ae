// The commands and their options as data: what the shell completion and the reference are made of.
#pragma once

#include <string>
#include <vector>

namespace houtu::client {

struct OptionHelp {
  /// "--wait", "-o,--output", or "FILE" of a positional.
  std::string names;
  /// "TEXT", "N", …; empty: a flag.
  std::string value;
  std::string description;
  bool positional = false;
  bool required = false;

  /// The spellings: "-o", "--output".
  std::vector<std::string> Spellings() const;
};

struct CommandHelp {
  /// "houtu job list".
  std::string path;
  std::string description;
  std::vector<OptionHelp> options;
  std::vector<CommandHelp> children;

  /// The last word of the path.
  std::string Name() const;
};

/// A completion script of the program for `shell` ("bash" or "zsh").
std::string CompletionScript(const CommandHelp& program, const std::string& shell);

/// The reference in Markdown: a section for each command that can be run.
std::string Reference(const std::vector<CommandHelp>& programs);

}  // namespace houtu::client
