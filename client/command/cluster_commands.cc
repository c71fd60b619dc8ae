#include <memory>

#include "client/command/cluster_query.h"
#include "client/command/invocation.h"
#include "client/command/offline.h"

namespace houtu::client {
namespace {

void AddNodeCommands(CLI::App* node, Invocation* invocation) {
  node->require_subcommand(1);
  const auto text = std::make_shared<std::string>();
  CLI::App* list = node->add_subcommand("list", "List nodes");
  list->add_option("--dc", *text, "Only this datacenter's")->type_name("DATACENTER");
  AddConnection(list, invocation);
  list->callback([invocation, text] {
    invocation->RunWithSession([invocation, text](Session* session) {
      return NodeList(invocation->console, session, *text);
    });
  });
  CLI::App* show = node->add_subcommand("show", "Show a node");
  show->add_option("NODE", *text, "The node's name, or DATACENTER/NAME")->required();
  AddConnection(show, invocation);
  show->callback([invocation, text] {
    invocation->RunWithSession([invocation, text](Session* session) {
      return NodeShow(invocation->console, session, *text);
    });
  });
}

void AddConfigCommand(CLI::App* config, Invocation* invocation) {
  config->require_subcommand(1);
  const auto file = std::make_shared<std::string>();
  const auto kind = std::make_shared<std::string>();
  CLI::App* command = config->add_subcommand("validate", "Check a configuration file; offline");
  command->add_option("FILE", *file, "The file")->required();
  command
      ->add_option("--kind", *kind, "What it configures: master, agent, jobmanager, client or job")
      ->type_name("KIND")
      ->required()
      ->check([](const std::string& text) -> std::string {
        for (const char* known : kConfigKinds) {
          if (text == known) {
            return "";
          }
        }
        return "\"" + text + "\": expected master, agent, jobmanager, client or job";
      });
  AddFormat(command, invocation);
  command->callback([invocation, file, kind] {
    invocation->run = [invocation, file, kind] {
      return ConfigValidate(invocation->console, *file, *kind);
    };
  });
}

void AddCompletion(CLI::App* houtu, Invocation* invocation) {
  CLI::App* command = houtu->add_subcommand("completion", "Print a shell's completion script");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check([](const std::string& text) -> std::string {
        return text == "bash" || text == "zsh" ? "" : "\"" + text + "\": expected bash or zsh";
      });
  command->callback([houtu, invocation, shell] {
    invocation->run = [houtu, invocation, shell] {
      *invocation->console.out << CompletionScript(Describe(*houtu, "houtu"), *shell);
      return ExitStatus::kDone;
    };
  });
}

}  // namespace

void AddClusterCommands(CLI::App* houtu, Invocation* invocation) {
  AddNodeCommands(houtu->add_subcommand("node", "Nodes"), invocation);
  CLI::App* dc = houtu->add_subcommand("dc", "Datacenters");
  dc->require_subcommand(1);
  CLI::App* list = dc->add_subcommand("list", "List datacenters");
  AddConnection(list, invocation);
  list->callback([invocation] {
    invocation->RunWithSession(
        [invocation](Session* session) { return DatacenterList(invocation->console, session); });
  });
}

void AddOfflineCommands(CLI::App* houtu, Invocation* invocation) {
  AddConfigCommand(houtu->add_subcommand("config", "Configuration files"), invocation);
  CLI::App* version = houtu->add_subcommand("version", "Print the version");
  AddFormat(version, invocation);
  version->callback(
      [invocation] { invocation->run = [invocation] { return Version(invocation->console); }; });
  AddCompletion(houtu, invocation);
}

}  // namespace houtu::client
