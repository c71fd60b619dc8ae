// Invocation: what the command line asked for. The only headers with CLI11 are this one and the
// files that add commands.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "client/command/command_tree.h"
#include "client/command/console.h"
#include "client/command/session.h"

namespace houtu::client {

/// Owner: RunProgram, while the command line is parsed and the command runs.
struct Invocation {
  Console console;
  Interrupt* interrupt = nullptr;
  ConnectOptions connect;
  /// Set by the command that was named.
  std::function<ExitStatus()> run;

  /// The connections; null: the console was told why there are none.
  std::unique_ptr<Session> Open() { return Session::Open(console, connect, interrupt); }

  /// Sets `run` to `body` with a session.
  void RunWithSession(std::function<ExitStatus(Session*)> body) {
    run = [this, body = std::move(body)] {
      const std::unique_ptr<Session> session = Open();
      return session == nullptr ? ExitStatus::kBadUsage : body(session.get());
    };
  }
};

/// -o: how stdout reads.
void AddFormat(CLI::App* command, Invocation* invocation);
/// -o, --config, --connect-timeout: of every command that asks the cluster.
void AddConnection(CLI::App* command, Invocation* invocation);
/// An option that takes a duration above 0 ("90s", "1h30m").
void AddDuration(CLI::App* command, const std::string& names, absl::Duration* value,
                 const std::string& description);

/// The options and the positional of `houtu job run` and houtu-submit.
void AddRunCommand(CLI::App* command, Invocation* invocation);
/// `houtu job …` but run.
void AddJobCommands(CLI::App* job, Invocation* invocation);
/// `houtu node …`, `houtu dc …`.
void AddClusterCommands(CLI::App* houtu, Invocation* invocation);
/// `houtu config …`, version, completion.
void AddOfflineCommands(CLI::App* houtu, Invocation* invocation);

/// The program's commands as data.
CommandHelp Describe(const CLI::App& app, const std::string& path);

}  // namespace houtu::client
