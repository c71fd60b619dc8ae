// The two programs: houtu and houtu-submit.
#pragma once

#include <string>
#include <vector>

#include "client/command/command_tree.h"
#include "client/command/console.h"
#include "client/net/interrupt.h"

namespace houtu::client {

enum class Program { kHoutu, kSubmit };

/// Parses the arguments (without the program's name), runs the command, returns the exit status.
/// Never throws.
ExitStatus RunProgram(Program program, const std::vector<std::string>& args, const Console& console,
                      Interrupt* interrupt);

/// main of both: the process's streams, Ctrl-C, the exit status.
int Main(Program program, int argc, char** argv);

/// The commands of the program as data.
CommandHelp DescribeProgram(Program program);

}  // namespace houtu::client
