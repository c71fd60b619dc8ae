#include "client/command/program.h"

#include <cstdlib>
#include <iostream>
#include <optional>

#include "client/command/invocation.h"
#include "client/command/offline.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

std::unique_ptr<CLI::App> Build(Program program, Invocation* invocation) {
  if (program == Program::kSubmit) {
    auto app =
        std::make_unique<CLI::App>("Submit a job: the short way of houtu job run", "houtu-submit");
    AddRunCommand(app.get(), invocation);
    app->set_version_flag("--version", "houtu-submit " + VersionText());
    return app;
  }
  auto app = std::make_unique<CLI::App>("Houtu: batch jobs over several datacenters", "houtu");
  app->require_subcommand(1);
  CLI::App* job = app->add_subcommand("job", "Jobs");
  job->require_subcommand(1);
  AddRunCommand(job->add_subcommand("run", "Submit a job"), invocation);
  AddJobCommands(job, invocation);
  AddClusterCommands(app.get(), invocation);
  AddOfflineCommands(app.get(), invocation);
  app->set_version_flag("--version", "houtu " + VersionText());
  return app;
}

/// The command as far as it was understood: "houtu job list".
std::string CommandPath(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + CommandPath(*chosen.front());
}

/// Whether -o json stands among the arguments: a bad command line is told in that form too.
bool WantsJson(const std::vector<std::string>& args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const bool option = args[i] == "-o" || args[i] == "--output";
    if (args[i] == "-ojson" || args[i] == "--output=json" ||
        (option && i + 1 < args.size() && args[i + 1] == "json")) {
      return true;
    }
  }
  return false;
}

/// nullopt: parsed; else the program ends with that status.
std::optional<ExitStatus> Parse(CLI::App* app, const std::vector<std::string>& args,
                                Invocation* invocation) {
  std::vector<std::string> reversed(args.rbegin(), args.rend());  // CLI11 takes from the back
  try {
    app->parse(reversed);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    *invocation->console.out << app->help();
  } catch (const CLI::CallForAllHelp&) {
    *invocation->console.out << app->help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion& version) {
    *invocation->console.out << version.what() << "\n";
  } catch (const CLI::Error& error) {
    invocation->console.format = WantsJson(args) ? Format::kJson : Format::kTable;
    return invocation->console.Fail(Error(absl::StatusCode::kInvalidArgument, "{}; see {} --help",
                                          error.what(), CommandPath(*app)));
  }
  return ExitStatus::kDone;
}

std::string Names(const CLI::Option& option) {
  return option.nonpositional() ? option.get_name(false, true) : option.get_name(true);
}

}  // namespace

CommandHelp Describe(const CLI::App& app, const std::string& path) {
  CommandHelp help{.path = path, .description = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_name() == "--help") {
      continue;
    }
    help.options.push_back(
        {.names = Names(*option),
         .value = option->get_items_expected_max() == 0 ? "" : option->get_type_name(),
         .description = option->get_description(),
         .positional = !option->nonpositional(),
         .required = option->get_required()});
  }
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    help.children.push_back(Describe(*child, path + " " + child->get_name()));
  }
  return help;
}

CommandHelp DescribeProgram(Program program) {
  Invocation invocation;
  const std::unique_ptr<CLI::App> app = Build(program, &invocation);
  return Describe(*app, app->get_name());
}

ExitStatus RunProgram(Program program, const std::vector<std::string>& args, const Console& console,
                      Interrupt* interrupt) {
  Invocation invocation{.console = console, .interrupt = interrupt};
  const std::unique_ptr<CLI::App> app = Build(program, &invocation);
  if (const auto ended = Parse(app.get(), args, &invocation); ended.has_value()) {
    return *ended;
  }
  const ExitStatus exit = invocation.run();
  console.out->flush();
  if (!console.out->good() && exit == ExitStatus::kDone) {
    return console.Fail(absl::InternalError("can't write to standard output"));
  }
  return exit;
}

int Main(Program program, int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  // gRPC's own lines on stderr (a failed handshake) say no more than our errors do.
  ::setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  Interrupt interrupt;
  const SignalSource signals(&interrupt);
  return static_cast<int>(RunProgram(program, std::vector<std::string>(argv + 1, argv + argc),
                                     StandardConsole(), &interrupt));
}

}  // namespace houtu::client
