// Primary: from a stage's raw inputs to its tasks, by asking the datacenters that hold them.
#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/pauses.h"
#include "jobmanager/core/primary.h"
#include "jobmanager/inputs/raw_tasks.h"

namespace houtu::jobmanager {
namespace {

// The stage's inputs of one datacenter, by their place in the job file.
std::vector<int> InputsIn(const v1::Stage& stage, const std::string& datacenter) {
  std::vector<int> inputs;
  for (int i = 0; i < stage.inputs_size(); ++i) {
    if (stage.inputs(i).datacenter() == datacenter) {
      inputs.push_back(i);
    }
  }
  return inputs;
}

}  // namespace

void Primary::List(int stage, const std::string& datacenter) {
  ListInputs list{.stage = stage, .datacenter = datacenter, .inputs = {}};
  for (const int input : InputsIn(*stages_.at(stage).spec, datacenter)) {
    list.inputs.push_back(stages_.at(stage).spec->inputs(input));
  }
  outbox_.Add(std::move(list));
}

void Primary::InputsListed(int stage, const std::string& datacenter,
                           const absl::StatusOr<v1::ListInputsResponse>& response, absl::Time now) {
  const auto it = listings_.find(stage);
  if (it == listings_.end() || !it->second.asked.contains(datacenter) || ending()) {
    return;
  }
  Listing& listing = it->second;
  absl::Status status = response.status();
  if (MayComeYet(status)) {
    listing.retry_at[datacenter] =
        now + PauseAfter(++listing.failures[datacenter], kListPauseFirst, kListPauseMax);
    return;
  }
  if (status.ok()) {
    status = TakeListing(stage, datacenter, *response, &listing);
  }
  if (!status.ok()) {
    End(v1::JOB_STATE_FAILED,
        fmt::format("stage {}: inputs in {}: {}", stages_.name(stage), datacenter, Message(status)),
        now);
    return;
  }
  listing.asked.erase(datacenter);
  if (listing.asked.empty()) {
    FinishListing(stage, now);
    Unfold(now);
  }
}

absl::Status Primary::TakeListing(int stage, const std::string& datacenter,
                                  const v1::ListInputsResponse& response, Listing* listing) const {
  const v1::Stage& spec = *stages_.at(stage).spec;
  const std::vector<int> inputs = InputsIn(spec, datacenter);
  if (static_cast<int>(inputs.size()) != response.inputs_size()) {
    return Error(absl::StatusCode::kInternal, "the master listed {} inputs of {}",
                 response.inputs_size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    HOUTU_ASSIGN_OR_RETURN(listing->tasks[inputs[i]],
                           RawTasks(spec.inputs(inputs[i]), response.inputs(static_cast<int>(i))));
  }
  return absl::OkStatus();
}

void Primary::FinishListing(int stage, absl::Time now) {
  std::vector<v1::RawInput> inputs;
  for (auto& [input, tasks] : listings_[stage].tasks) {
    std::ranges::move(tasks, std::back_inserter(inputs));
  }
  if (inputs.size() > kStageTasksMax) {
    End(v1::JOB_STATE_FAILED,
        fmt::format("stage {}: its inputs make {} tasks, a stage may have {}; raise \"split\" or "
                    "name fewer files",
                    stages_.name(stage), inputs.size(), kStageTasksMax),
        now);
    return;
  }
  listings_.erase(stage);
  const int tasks = static_cast<int>(inputs.size());
  Release(stage, tasks, std::move(inputs), now);
}

void Primary::Retry(absl::Time now) {
  if (output_.retry_at <= now) {
    output_.retry_at = absl::InfiniteFuture();
    Unfold(now);
  }
  for (auto& [stage, listing] : listings_) {
    std::erase_if(listing.retry_at, [&](const auto& retry) {
      if (retry.second > now || ending()) {
        return false;
      }
      List(stage, retry.first);
      return true;
    });
  }
}

absl::Time Primary::NextWake() const {
  absl::Time wake =
      ending_.has_value() && !ending_->marked ? ending_->deadline : absl::InfiniteFuture();
  for (const auto& [stage, listing] : listings_) {
    for (const auto& [datacenter, at] : listing.retry_at) {
      wake = ending() ? wake : std::min(wake, at);
    }
  }
  return ending() ? wake : std::min(wake, output_.retry_at);
}

}  // namespace houtu::jobmanager
