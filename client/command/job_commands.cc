#include <fmt/format.h>

#include <memory>

#include "client/command/invocation.h"
#include "client/command/job_logs.h"
#include "client/command/job_outputs.h"
#include "client/command/job_query.h"
#include "client/command/job_run.h"
#include "client/command/job_wait.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

constexpr const char* kJobHelp = "The job's id, a unique prefix of it, or its name";

/// A command of one job.
CLI::App* AddJobCommand(CLI::App* job, Invocation* invocation, const std::string& name,
                        const std::string& description, std::string* target) {
  CLI::App* command = job->add_subcommand(name, description);
  command->add_option("JOB", *target, kJobHelp)->required();
  AddConnection(command, invocation);
  return command;
}

void AddFile(CLI::App* command, std::string* file, std::vector<std::string>* overrides) {
  command->add_option("FILE", *file, "The job file")->required();
  command
      ->add_option_function<std::string>(
          "--set", [overrides](const std::string& text) { overrides->push_back(text); },
          "Rules over the file: --set stages[0].tasks=8; may be given several times")
      ->type_name("PATH=VALUE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->trigger_on_parse();
}

/// --bid and --budget are short ways of --set.
void AddOverride(CLI::App* command, const std::string& key, const std::string& description,
                 std::vector<std::string>* overrides) {
  command
      ->add_option_function<std::string>(
          "--" + key,
          [overrides, key](const std::string& value) { overrides->push_back(key + "=" + value); },
          description)
      ->type_name("CREDITS");
}

void AddValidate(CLI::App* job, Invocation* invocation) {
  CLI::App* command = job->add_subcommand("validate", "Check a job file; asks no master");
  const auto options = std::make_shared<RunOptions>();
  AddFile(command, &options->file, &options->overrides);
  AddFormat(command, invocation);
  command->callback([invocation, options] {
    invocation->run = [invocation, options] {
      return JobValidate(invocation->console, options->file, options->overrides);
    };
  });
}

void AddList(CLI::App* job, Invocation* invocation) {
  CLI::App* command = job->add_subcommand("list", "List your jobs, newest first");
  const auto options = std::make_shared<JobListOptions>();
  command->add_flag("-a,--all", options->all, "Ended jobs too");
  command->add_option("--limit", options->limit, "Show at most so many")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  AddConnection(command, invocation);
  command->callback([invocation, options] {
    invocation->RunWithSession([invocation, options](Session* session) {
      return JobList(invocation->console, session, *options);
    });
  });
}

void AddShow(CLI::App* job, Invocation* invocation) {
  const auto target = std::make_shared<std::string>();
  const auto tasks = std::make_shared<bool>(false);
  CLI::App* command = AddJobCommand(job, invocation, "show", "Show a job's state", target.get());
  command->add_flag("--tasks", *tasks, "Its tasks too (always with -o json and yaml)");
  command->callback([invocation, target, tasks] {
    invocation->RunWithSession([invocation, target, tasks](Session* session) {
      return JobShow(invocation->console, session, *target, *tasks);
    });
  });
}

void AddWait(CLI::App* job, Invocation* invocation) {
  const auto target = std::make_shared<std::string>();
  const auto options = std::make_shared<WaitOptions>();
  CLI::App* command =
      AddJobCommand(job, invocation, "wait", "Wait until a job has ended", target.get());
  command->add_flag("-f,--follow", options->follow, "Tell every change as a line");
  AddDuration(command, "--timeout", &options->timeout, "Wait no longer; the job goes on");
  command->callback([invocation, target, options] {
    invocation->RunWithSession([invocation, target, options](Session* session) {
      return JobWait(invocation->console, session, *target, *options);
    });
  });
}

void AddLogs(CLI::App* job, Invocation* invocation) {
  CLI::App* command = job->add_subcommand("logs", "Print what tasks wrote to stdout and stderr");
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto options = std::make_shared<LogsOptions>();
  command->add_option("TASK", *words, "JOB[/STAGE[/TASK]], or JOB STAGE TASK")
      ->required()
      ->expected(1, 3);
  command->add_flag("-f,--follow", options->follow,
                    "Go on until the task has ended, across attempts and nodes; of one task");
  command
      ->add_option_function<std::string>(
          "--tail",
          [options](const std::string& text) {
            const absl::StatusOr<LogTail> tail = ParseLogTail(text);
            if (!tail.ok()) {
              throw CLI::ValidationError("--tail", Message(tail.status()));
            }
            options->tail = *tail;
          },
          "Only the end: a number of lines, or an amount of bytes like 64Ki")
      ->type_name("N");
  AddConnection(command, invocation);
  command->callback([invocation, words, options] {
    const absl::StatusOr<LogTarget> target = ParseLogTarget(*words);
    if (!target.ok()) {
      throw CLI::ValidationError("TASK", Message(target.status()));
    }
    options->target = *target;
    invocation->RunWithSession([invocation, options](Session* session) {
      return JobLogs(invocation->console, session, *options);
    });
  });
}

void AddOutputs(CLI::App* job, Invocation* invocation) {
  const auto target = std::make_shared<std::string>();
  const auto options = std::make_shared<OutputsOptions>();
  CLI::App* command =
      AddJobCommand(job, invocation, "outputs", "List or fetch a job's result", target.get());
  command->add_option("--to", options->to, "Fetch to DIR/<stage>/<task>/<name>")->type_name("DIR");
  command
      ->add_option("--stage", options->stage, "The files of this stage; else of the output stages")
      ->type_name("STAGE");
  command->callback([invocation, target, options] {
    invocation->RunWithSession([invocation, target, options](Session* session) {
      return JobOutputs(invocation->console, session, *target, *options);
    });
  });
}

using JobVerb = ExitStatus (*)(const Console&, Session*, const std::string&);

void AddPlainVerb(CLI::App* job, Invocation* invocation, const std::string& name,
                  const std::string& description, JobVerb verb) {
  const auto target = std::make_shared<std::string>();
  AddJobCommand(job, invocation, name, description, target.get())
      ->callback([invocation, target, verb] {
        invocation->RunWithSession([invocation, target, verb](Session* session) {
          return verb(invocation->console, session, *target);
        });
      });
}

}  // namespace

void AddRunCommand(CLI::App* command, Invocation* invocation) {
  const auto options = std::make_shared<RunOptions>();
  AddFile(command, &options->file, &options->overrides);
  AddOverride(command, "bid", "The bid, in credits per container-second", &options->overrides);
  AddOverride(command, "budget", "The most the job may spend, in credits", &options->overrides);
  command->add_flag("--wait", options->wait, "Wait until the job has ended, with its progress");
  command->add_flag("-f,--follow", options->follow, "As --wait, and tell every change as a line");
  AddDuration(command, "--timeout", &options->timeout, "Wait no longer; the job goes on");
  command->add_flag("--dry-run", options->dry_run, "Check the file only; -o json shows the job");
  command->add_flag("--id-only", options->id_only, "Print the job's id and nothing else");
  AddConnection(command, invocation);
  command->callback([invocation, options] {
    if (options->timeout != absl::InfiniteDuration() && !options->wait && !options->follow) {
      throw CLI::ValidationError("--timeout", "needs --wait or --follow");
    }
    invocation->run = [invocation, options] {
      return JobRun(invocation->console, [invocation] { return invocation->Open(); }, *options);
    };
  });
}

void AddJobCommands(CLI::App* job, Invocation* invocation) {
  AddValidate(job, invocation);
  AddList(job, invocation);
  AddShow(job, invocation);
  AddWait(job, invocation);
  AddLogs(job, invocation);
  AddOutputs(job, invocation);
  AddPlainVerb(job, invocation, "cancel", "End a job", &JobCancel);
  AddPlainVerb(job, invocation, "events", "List what happened to a job", &JobEvents);
}

}  // namespace houtu::client
