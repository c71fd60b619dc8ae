#include "client/command/command_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace houtu::client {
namespace {

constexpr std::string_view kBash =
    R"BASH(# bash completion of houtu; put it into /etc/bash_completion.d/houtu
_houtu_words() {{
  case "$1" in
{}  esac
}}
_houtu() {{
  local words="" i word path="houtu"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${{COMP_WORDS[i]}}"
    [[ "$word" == -* ]] && continue
    [[ " $(_houtu_words "$path") " == *" $word "* ]] && path="$path $word"
  done
  words="$(_houtu_words "$path")"
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
  [[ ${{#COMPREPLY[@]}} -gt 0 ]] || COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -F _houtu houtu
)BASH";

/// "    'houtu job') echo 'list show' ;;" for the command and those below it.
void AppendCases(const CommandHelp& command, std::string* out) {
  std::string words;
  for (const CommandHelp& child : command.children) {
    words += fmt::format("{} ", child.Name());
  }
  for (const OptionHelp& option : command.options) {
    for (const std::string& spelling : option.Spellings()) {
      words += option.positional ? std::string() : fmt::format("{} ", spelling);
    }
  }
  words.erase(words.find_last_not_of(' ') + 1);
  *out += fmt::format("    '{}') echo '{}' ;;\n", command.path, words);
  for (const CommandHelp& child : command.children) {
    AppendCases(child, out);
  }
}

/// "houtu job show JOB [options]".
std::string Usage(const CommandHelp& command) {
  std::string usage = command.path;
  bool has_options = false;
  for (const OptionHelp& option : command.options) {
    if (option.positional) {
      usage +=
          option.required ? fmt::format(" {}", option.names) : fmt::format(" [{}]", option.names);
    }
    has_options = has_options || !option.positional;
  }
  return fmt::format("{}{}", usage, has_options ? " [options]" : "");
}

std::string Escaped(std::string text) {
  for (size_t at = text.find('|'); at != text.npos; at = text.find('|', at + 2)) {
    text.insert(at, 1, '\\');
  }
  return text;
}

void AppendSection(const CommandHelp& command, std::string* out) {
  if (command.children.empty()) {
    *out += fmt::format("### {}\n\n{}.\n\n```\n{}\n```\n\n", command.path, command.description,
                        Usage(command));
    if (!command.options.empty()) {
      *out += "| | |\n|---|---|\n";
    }
    for (const OptionHelp& option : command.options) {
      const std::string value = option.value.empty() ? "" : fmt::format(" {}", option.value);
      *out += fmt::format("| `{}{}` | {} |\n", option.names, option.positional ? "" : value,
                          Escaped(option.description));
    }
    *out += command.options.empty() ? "" : "\n";
  }
  for (const CommandHelp& child : command.children) {
    AppendSection(child, out);
  }
}

}  // namespace

std::vector<std::string> OptionHelp::Spellings() const {
  std::vector<std::string> spellings(1);
  for (const char c : names) {
    if (c == ',') {
      spellings.emplace_back();
    } else {
      spellings.back() += c;
    }
  }
  return spellings;
}

std::string CommandHelp::Name() const { return path.substr(path.rfind(' ') + 1); }

std::string CompletionScript(const CommandHelp& program, const std::string& shell) {
  std::string cases;
  AppendCases(program, &cases);
  const std::string bash = fmt::format(kBash, cases);
  if (shell == "bash") {
    return bash;
  }
  return fmt::format("#compdef houtu\nautoload -U +X bashcompinit && bashcompinit\n{}", bash);
}

std::string Reference(const std::vector<CommandHelp>& programs) {
  std::string out;
  for (const CommandHelp& program : programs) {
    AppendSection(program, &out);
  }
  out.pop_back();  // one newline at the end
  return out;
}

}  // namespace houtu::client
