#include "master/allocator/psdsf/instance.h"

#include <algorithm>
#include <cmath>

#include "common/base/status.h"

namespace houtu::psdsf {
namespace {

template <typename Amount>
bool IsAmount(Amount amount) {
  return amount >= 0 && std::isfinite(static_cast<double>(amount));
}

template <typename Amount>
absl::Status ValidateAmounts(const std::vector<Amount>& amounts, int resources) {
  if (static_cast<int>(amounts.size()) != resources) {
    return Error(absl::StatusCode::kInvalidArgument, "{} amounts for {} kinds of resources",
                 amounts.size(), resources);
  }
  const auto bad = std::find_if_not(amounts.begin(), amounts.end(), IsAmount<Amount>);
  if (bad != amounts.end()) {
    return Error(absl::StatusCode::kInvalidArgument, "{} of resource {} is not an amount", *bad,
                 bad - amounts.begin());
  }
  return absl::OkStatus();
}

template <typename Amount>
absl::Status ValidateOne(const BasicInstance<Amount>& instance, const BasicUser<Amount>& user) {
  HOUTU_RETURN_IF_ERROR(ValidateAmounts(user.demand, instance.resources));
  if (std::all_of(user.demand.begin(), user.demand.end(), [](Amount d) { return d == 0; })) {
    return Error(absl::StatusCode::kInvalidArgument, "it demands nothing");
  }
  if (!std::isfinite(user.weight) || user.weight <= 0) {
    return Error(absl::StatusCode::kInvalidArgument, "its weight is {}", user.weight);
  }
  if (!(user.cap >= 0)) {
    return Error(absl::StatusCode::kInvalidArgument, "its cap is {}", user.cap);
  }
  if (!user.eligible.empty() && user.eligible.size() != instance.servers.size()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "it says of {} servers whether they are "
                 "eligible; there are {}",
                 user.eligible.size(), instance.servers.size());
  }
  return absl::OkStatus();
}

template <typename Amount>
absl::Status ValidateAll(const BasicInstance<Amount>& instance) {
  if (instance.resources <= 0) {
    return Error(absl::StatusCode::kInvalidArgument, "{} kinds of resources", instance.resources);
  }
  for (int i = 0; i < instance.server_count(); ++i) {
    HOUTU_RETURN_IF_ERROR(
        Annotate(ValidateAmounts(instance.servers[i].capacity, instance.resources),
                 fmt::format("server {}", i)));
  }
  for (int n = 0; n < instance.user_count(); ++n) {
    HOUTU_RETURN_IF_ERROR(
        Annotate(ValidateOne(instance, instance.users[n]), fmt::format("user {}", n)));
  }
  return absl::OkStatus();
}

template <typename Amount>
double Fill(const std::vector<Amount>& capacity, const std::vector<Amount>& demand) {
  double tasks = std::numeric_limits<double>::infinity();
  for (size_t r = 0; r < demand.size(); ++r) {
    if (demand[r] > 0) {
      tasks = std::min(tasks, static_cast<double>(capacity[r]) / static_cast<double>(demand[r]));
    }
  }
  return tasks;
}

template <typename Amount>
std::vector<double> Total(const BasicInstance<Amount>& instance) {
  std::vector<double> total(instance.resources, 0);
  for (const BasicServer<Amount>& server : instance.servers) {
    for (int r = 0; r < instance.resources; ++r) {
      total[r] += static_cast<double>(server.capacity[r]);
    }
  }
  return total;
}

}  // namespace

absl::Status Validate(const Instance& instance) { return ValidateAll(instance); }
absl::Status Validate(const WholeInstance& instance) { return ValidateAll(instance); }

absl::Status ValidateUser(const Instance& instance, int index, const User& user) {
  return Annotate(ValidateOne(instance, user), fmt::format("user {}", index));
}

double TasksThatFill(const std::vector<double>& capacity, const std::vector<double>& demand) {
  return Fill(capacity, demand);
}
double TasksThatFill(const std::vector<int64_t>& capacity, const std::vector<int64_t>& demand) {
  return Fill(capacity, demand);
}

std::vector<double> TotalCapacity(const Instance& instance) { return Total(instance); }
std::vector<double> TotalCapacity(const WholeInstance& instance) { return Total(instance); }

}  // namespace houtu::psdsf
