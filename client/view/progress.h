// A job's progress while one waits for it: bars that are redrawn in place on a terminal, lines on
// change elsewhere. Pure but for the owner's writing: what to write comes back as text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "houtu/v1/status.pb.h"

namespace houtu::client {

/// Bars. Owner: the command that waits; one thread.
class ProgressBars {
 public:
  /// Stages shown at a time; those that ended are left out first.
  static constexpr int kStagesMax = 20;

  struct Options {
    /// Columns of the terminal.
    int width = 80;
    bool colour = false;
  };
  explicit ProgressBars(Options options) : options_(options) {}

  /// The text that replaces what Draw wrote before.
  std::string Draw(const v1::JobStatus& status, absl::Time now);
  /// The text that takes what was drawn away, so that a line can be written in its place.
  std::string Erase();

  /// The lines of one picture, without control sequences but colours.
  std::vector<std::string> Lines(const v1::JobStatus& status, absl::Time now) const;

 private:
  Options options_;
  int lines_drawn_ = 0;
};

/// Lines: one for each change worth a line. Owner: the command that waits; one thread.
class ProgressLines {
 public:
  /// A stage's counts are told at most this often; its state's changes at once.
  static constexpr absl::Duration kCountsInterval = absl::Seconds(5);

  /// What changed since the last call, each line ended by a newline.
  std::string Update(const v1::JobStatus& status, absl::Time now);

 private:
  struct Told {
    v1::StageState state = v1::STAGE_STATE_UNSPECIFIED;
    std::string counts;
    absl::Time at;
  };
  void UpdateStage(const v1::StageStatus& stage, absl::Time now, std::string* out);

  v1::JobState state_ = v1::JOB_STATE_UNSPECIFIED;
  std::map<std::string, Told> stages_;
  std::vector<std::string> waits_;
};

}  // namespace houtu::client
