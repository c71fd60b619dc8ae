#include "client/view/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/text/safe_text.h"
#include "client/text/units.h"
#include "client/text/utf8.h"
#include "client/view/job_view.h"

namespace houtu::client {
namespace {

constexpr int kBarColumns = 24;
constexpr int kNameColumnsMax = 24;
constexpr int kWaitsMax = 4;
constexpr std::string_view kReset = "\x1b[0m";

std::string_view Colour(v1::StageState state) {
  if (state == v1::STAGE_STATE_RUNNING) {
    return "\x1b[36m";
  }
  if (state == v1::STAGE_STATE_SUCCEEDED) {
    return "\x1b[32m";
  }
  const bool bad = state == v1::STAGE_STATE_FAILED || state == v1::STAGE_STATE_CANCELLED;
  return bad ? "\x1b[31m" : "\x1b[2m";
}

bool HasEnded(const v1::StageStatus& stage) {
  return stage.state() == v1::STAGE_STATE_SUCCEEDED || stage.state() == v1::STAGE_STATE_FAILED ||
         stage.state() == v1::STAGE_STATE_CANCELLED;
}

/// "####>>....": done, running, waiting.
std::string Bar(const v1::StageStatus& stage) {
  const int64_t total = stage.tasks_total();
  if (total <= 0) {
    return std::string(kBarColumns, stage.state() == v1::STAGE_STATE_SUCCEEDED ? '#' : '.');
  }
  const auto columns = [total](int64_t tasks) {
    return static_cast<size_t>(std::clamp<int64_t>(tasks * kBarColumns / total, 0, kBarColumns));
  };
  const size_t done = columns(stage.tasks_finished());
  const size_t busy = columns(int64_t{stage.tasks_finished()} + stage.tasks_running()) - done;
  return std::string(done, '#') + std::string(busy, '>') +
         std::string(kBarColumns - done - busy, '.');
}

std::string Counts(const v1::StageStatus& stage) {
  if (stage.tasks_total() < 0) {
    return "inputs not listed yet";
  }
  std::string out = fmt::format("{}/{} done", stage.tasks_finished(), stage.tasks_total());
  const auto add = [&out](int count, std::string_view what) {
    if (count > 0) {
      out += fmt::format(", {} {}", count, what);
    }
  };
  add(stage.tasks_running(), "running");
  add(stage.tasks_waiting(), "waiting");
  add(stage.attempts_failed(), "attempts failed");
  add(stage.attempts_lost(), "attempts lost");
  add(stage.starts_failed(), "starts failed");
  return out;
}

std::string NameCell(const std::string& name, int columns) {
  const std::string safe = SafeLine(name);
  const std::string cut(CutToWidth(safe, columns));
  return cut + std::string(static_cast<size_t>(std::max(0, columns - TextWidth(cut))), ' ');
}

/// The stages to show: all, or those that have not ended first and the last of those that have.
std::vector<const v1::StageStatus*> Shown(const v1::JobStatus& status) {
  std::vector<const v1::StageStatus*> stages;
  for (const v1::StageStatus& stage : status.stages()) {
    stages.push_back(&stage);
  }
  int over = static_cast<int>(stages.size()) - ProgressBars::kStagesMax;
  std::erase_if(stages,
                [&over](const auto* stage) { return over > 0 && HasEnded(*stage) && over-- > 0; });
  stages.resize(std::min(stages.size(), static_cast<size_t>(ProgressBars::kStagesMax)));
  return stages;
}

}  // namespace

std::vector<std::string> ProgressBars::Lines(const v1::JobStatus& status, absl::Time now) const {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text, std::string_view colour) {
    const std::string cut(CutToWidth(text, std::max(1, options_.width - 1)));
    lines.push_back(options_.colour ? fmt::format("{}{}{}", colour, cut, kReset) : cut);
  };
  add(fmt::format("{}  {}  {}", JobTitle(status), ShortName(status.state()),
                  HumanSpan(status.submitted_at(), status.ended_at(), now)),
      "\x1b[1m");
  const auto shown = Shown(status);
  int columns = 1;
  for (const auto* stage : shown) {
    columns = std::clamp(TextWidth(SafeLine(stage->name())), columns, kNameColumnsMax);
  }
  for (const auto* stage : shown) {
    add(fmt::format("  {} [{}] {}", NameCell(stage->name(), columns), Bar(*stage), Counts(*stage)),
        Colour(stage->state()));
  }
  if (const int hidden = status.stages_size() - static_cast<int>(shown.size()); hidden > 0) {
    add(fmt::format("  and {} more stages", hidden), "\x1b[2m");
  }
  for (int i = 0; i < std::min(status.waits_size(), kWaitsMax); ++i) {
    add("  waits: " + WaitLine(status.waits(i)), "\x1b[33m");
  }
  return lines;
}

std::string ProgressBars::Draw(const v1::JobStatus& status, absl::Time now) {
  std::string out = Erase();
  for (const std::string& line : Lines(status, now)) {
    out += line + "\n";
    ++lines_drawn_;
  }
  return out;
}

std::string ProgressBars::Erase() {
  const int lines = std::exchange(lines_drawn_, 0);
  return lines == 0 ? "" : fmt::format("\x1b[{}A\r\x1b[J", lines);
}

std::string ProgressLines::Update(const v1::JobStatus& status, absl::Time now) {
  std::string out;
  for (const v1::StageStatus& stage : status.stages()) {
    UpdateStage(stage, now, &out);
  }
  std::vector<std::string> waits;
  for (const v1::WaitReason& wait : status.waits()) {
    waits.push_back(WaitLine(wait));
    if (std::find(waits_.begin(), waits_.end(), waits.back()) == waits_.end()) {
      out += "waits: " + waits.back() + "\n";
    }
  }
  waits_ = std::move(waits);
  if (std::exchange(state_, status.state()) != status.state()) {
    const std::string message = status.message().empty() ? "" : ": " + SafeLine(status.message());
    out += fmt::format("{} {}{}\n", JobTitle(status), ShortName(status.state()), message);
  }
  return out;
}

void ProgressLines::UpdateStage(const v1::StageStatus& stage, absl::Time now, std::string* out) {
  Told& told = stages_[stage.name()];
  const std::string counts = Counts(stage);
  const bool blocked_still =
      told.state == v1::STAGE_STATE_UNSPECIFIED && stage.state() == v1::STAGE_STATE_BLOCKED;
  const bool counts_due = counts != told.counts && now - told.at >= kCountsInterval;
  if (blocked_still || (told.state == stage.state() && !counts_due)) {
    return;
  }
  told = {.state = stage.state(), .counts = counts, .at = now};
  *out += fmt::format("{}: {} ({})\n", SafeLine(stage.name()), ShortName(stage.state()), counts);
}

}  // namespace houtu::client
