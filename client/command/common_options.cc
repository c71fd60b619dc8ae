#include <map>

#include "client/command/invocation.h"

namespace houtu::client {

void AddFormat(CLI::App* command, Invocation* invocation) {
  static const std::map<std::string, Format> kFormats = {{"table", Format::kTable},
                                                         {"wide", Format::kWide},
                                                         {"json", Format::kJson},
                                                         {"yaml", Format::kYaml},
                                                         {"name", Format::kName}};
  command
      ->add_option_function<std::string>(
          "-o,--output",
          [invocation](const std::string& name) {
            const auto found = kFormats.find(name);
            if (found == kFormats.end()) {
              throw CLI::ValidationError(
                  "-o", "\"" + name + "\": expected table, wide, json, yaml or name");
            }
            invocation->console.format = found->second;
          },
          "How stdout reads: table, wide, json, yaml or name (ids alone)")
      ->type_name("FORMAT");
}

void AddConnection(CLI::App* command, Invocation* invocation) {
  AddFormat(command, invocation);
  command
      ->add_option("--config", invocation->connect.config,
                   "Configuration file; else $HOUTU_CONFIG, ~/.config/houtu/config.yaml or "
                   "/etc/houtu/client.yaml")
      ->type_name("FILE");
  AddDuration(command, "--connect-timeout", &invocation->connect.timeout,
              "For how long masters are tried (10s)");
}

void AddDuration(CLI::App* command, const std::string& names, absl::Duration* value,
                 const std::string& description) {
  command
      ->add_option_function<std::string>(
          names,
          [value, names](const std::string& text) {
            if (!absl::ParseDuration(text, value) || *value <= absl::ZeroDuration()) {
              throw CLI::ValidationError(
                  names, "\"" + text + "\": expected a duration like 90s, 10m or 1h30m");
            }
          },
          description)
      ->type_name("DURATION");
}

}  // namespace houtu::client
