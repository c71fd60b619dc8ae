#include "client/command/job_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "client/command/pages.h"
#include "client/outputs/fetcher.h"
#include "client/outputs/output_folder.h"
#include "client/text/safe_text.h"
#include "client/text/units.h"
#include "client/view/job_view.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

/// Missing files that are named one by one; the rest is counted.
constexpr size_t kMissingToldMax = 20;

void PrintList(const Console& console, const v1::ListOutputsResponse& outputs) {
  if (console.IsStructured()) {
    console.PrintMessage(outputs);
  } else if (console.format == Format::kName) {
    for (const v1::OutputFile& file : outputs.files()) {
      const std::string name = fmt::format("{}/{}/{}", file.stage(), file.task(), file.name());
      *console.out << (console.out_is_terminal ? SafeLine(name) : name) << "\n";
    }
  } else {
    const std::vector<v1::OutputFile> files(outputs.files().begin(), outputs.files().end());
    *console.out << OutputTable(files);
  }
}

ExitStatus TellMissing(const Console& console, const std::vector<MissingFile>& missing,
                       size_t wanted) {
  for (size_t i = 0; i < std::min(missing.size(), kMissingToldMax); ++i) {
    const auto& [file, why] = missing[i];
    console.Note(fmt::format("missing: {}/{}/{} on {}: {}", file.stage(), file.task(), file.name(),
                             file.node(), Message(why)));
  }
  if (missing.size() > kMissingToldMax) {
    console.Note(fmt::format("missing: and {} more", missing.size() - kMissingToldMax));
  }
  const auto unreachable = std::find_if(missing.begin(), missing.end(), [](const MissingFile& m) {
    return ExitStatusOf(m.why, Purpose::kOther) == ExitStatus::kUnreachable;
  });
  const absl::Status& cause = unreachable == missing.end() ? missing.front().why : unreachable->why;
  const std::string text =
      fmt::format("{} of {} files could not be had: {}", missing.size(), wanted, Message(cause));
  const ExitStatus exit = console.Fail(absl::Status(cause.code(), text));
  const bool as_told = exit == ExitStatus::kUnreachable || exit == ExitStatus::kInterrupted;
  return as_told ? exit : ExitStatus::kJobFailed;
}

ExitStatus FetchAll(const Console& console, Session* session,
                    const v1::ListOutputsResponse& outputs, const std::string& to) {
  const absl::StatusOr<OutputFolder> folder = OutputFolder::Open(to);
  if (!folder.ok()) {
    return console.Fail(absl::InvalidArgumentError(Message(folder.status())));
  }
  const std::vector<v1::OutputFile> files(outputs.files().begin(), outputs.files().end());
  size_t fetched = 0;
  Fetcher fetcher(&session->agents(), &*folder, &session->interrupt(), [&](size_t arrived) {
    fetched += arrived;
    if (console.err_is_terminal) {
      *console.err << fmt::format("\r{}/{} files", fetched, files.size()) << std::flush;
    }
  });
  const std::vector<MissingFile> missing = fetcher.Fetch(outputs.job_id(), files);
  if (console.err_is_terminal && !files.empty()) {
    *console.err << "\n";
  }
  if (!missing.empty()) {
    return TellMissing(console, missing, files.size());
  }
  if (console.IsStructured()) {
    console.PrintMessage(outputs);
    return ExitStatus::kDone;
  }
  int64_t bytes = 0;
  for (const v1::OutputFile& file : files) {
    bytes += file.size_bytes();
  }
  console.Note(fmt::format("{} files, {}, in {}", files.size(), HumanBytes(bytes), to));
  return ExitStatus::kDone;
}

}  // namespace

ExitStatus JobOutputs(const Console& console, Session* session, const std::string& job,
                      const OutputsOptions& options) {
  const absl::StatusOr<v1::ListOutputsResponse> outputs =
      AllOutputs(&session->masters(), job, options.stage);
  if (!outputs.ok()) {
    return console.Fail(outputs.status());
  }
  if (!options.to.empty()) {
    return FetchAll(console, session, *outputs, options.to);
  }
  PrintList(console, *outputs);
  return ExitStatus::kDone;
}

}  // namespace houtu::client
