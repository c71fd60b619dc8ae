#include "agent/core/lease_state.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/base/time.h"

namespace houtu::agent {
namespace {

/// A job manager that is told to end writes its last records meanwhile.
constexpr absl::Duration kManagerGrace = absl::Seconds(5);

/// The last two numbers of "<datacenter>.<term>.<number>"; 0, 1 where it has another form.
std::pair<int, int> LeaseNumbers(const std::string& lease_id) {
  const std::vector<std::string> parts = absl::StrSplit(lease_id, '.');
  int term = 0;
  int number = 1;
  if (parts.size() < 3 || !absl::SimpleAtoi(parts[parts.size() - 2], &term) ||
      !absl::SimpleAtoi(parts.back(), &number)) {
    return {0, 1};
  }
  return {term, number};
}

}  // namespace

int LeaseState::Holding() const {
  return static_cast<int>(std::count_if(attempts.begin(), attempts.end(),
                                        [](const auto& entry) { return entry.second.Holds(); }));
}

int LeaseState::InContainer() const {
  return static_cast<int>(std::count_if(attempts.begin(), attempts.end(), [](const auto& entry) {
    return entry.second.phase == AttemptState::Phase::kLaunching ||
           entry.second.phase == AttemptState::Phase::kRunning;
  }));
}

v1::TaskSpec ManagerSpec(const v1::Lease& lease) {
  const auto [term, number] = LeaseNumbers(lease.id());
  v1::TaskSpec spec;
  spec.mutable_id()->set_job(lease.job());
  spec.mutable_id()->set_stage(std::string(kManagerStage));
  spec.mutable_id()->set_task(term);
  spec.mutable_id()->set_attempt(number);
  spec.set_lease_id(lease.id());
  spec.set_image("host");
  spec.set_network(v1::NETWORK_HOST);
  *spec.mutable_resources() = lease.resources();
  *spec.mutable_grace() = ToProto(kManagerGrace);
  return spec;
}

}  // namespace houtu::agent
