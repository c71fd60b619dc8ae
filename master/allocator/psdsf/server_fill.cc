#include "master/allocator/psdsf/server_fill.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace houtu::psdsf {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double LevelAt(const std::vector<std::pair<double, int>>& events, size_t next) {
  return next < events.size() ? events[next].first : kNever;
}

}  // namespace

void ServerFill::Run(std::span<const double> capacity, std::span<const Claim> claims,
                     std::span<double> tasks) {
  claims_ = claims;
  tasks_ = tasks;
  resources_.assign(capacity.size(), ResourceState{});
  for (size_t r = 0; r < capacity.size(); ++r) {
    resources_[r].free = capacity[r];
  }
  Prepare();
  size_t next_start = 0;
  size_t next_stop = 0;
  while (true) {
    int resource = 0;
    const double full = NextFull(&resource);
    const double start = LevelAt(starts_, next_start);
    const double stop = LevelAt(stops_, next_stop);
    if (full == kNever && start == kNever) {
      break;  // whoever is left needs nothing of what there is: nobody rises
    }
    if (stop <= full && stop <= start) {
      const int claim = stops_[next_stop++].second;
      if (is_rising_[claim]) {
        RiseTo(stop);
        Stop(claim);
        std::erase(rising_, claim);
        RecountRates();
      }
    } else if (full <= start) {
      RiseTo(full);
      StopWhoNeed(resource);
    } else {
      RiseTo(start);
      Join(starts_[next_start++].second);
    }
  }
}

void ServerFill::Prepare() {
  starts_.clear();
  stops_.clear();
  rising_.clear();
  is_rising_.assign(claims_.size(), 0);
  std::fill(tasks_.begin(), tasks_.end(), 0);
  for (int k = 0; k < static_cast<int>(claims_.size()); ++k) {
    if (claims_[k].stop > claims_[k].start) {
      starts_.emplace_back(claims_[k].start, k);
      if (claims_[k].stop < kNever) {
        stops_.emplace_back(claims_[k].stop, k);
      }
    }
  }
  std::sort(starts_.begin(), starts_.end());
  std::sort(stops_.begin(), stops_.end());
  level_ = starts_.empty() ? 0 : starts_.front().first;
}

/// The level where the first resource runs out if no one joins or stops.
double ServerFill::NextFull(int* resource) const {
  double first = kNever;
  for (size_t r = 0; r < resources_.size(); ++r) {
    const ResourceState& state = resources_[r];
    if (state.risers > 0 && !state.full) {
      const double level = level_ + std::max(0.0, state.free) / state.rate;
      if (level < first) {
        first = level;
        *resource = static_cast<int>(r);
      }
    }
  }
  return first;
}

void ServerFill::RiseTo(double level) {
  const double rise = level - level_;
  if (rise > 0) {
    for (ResourceState& state : resources_) {
      state.free -= state.rate * rise;
    }
    level_ = level;
  }
}

void ServerFill::Join(int claim) {
  if (NeedsFull(claim)) {
    return;
  }
  AddRates(claim);
  is_rising_[claim] = 1;
  rising_.push_back(claim);
}

void ServerFill::AddRates(int claim) {
  const Claim& c = claims_[claim];
  for (size_t r = 0; r < resources_.size(); ++r) {
    if (c.uses[r] > 0) {
      resources_[r].rate += c.slope * c.uses[r];
      ++resources_[r].risers;
    }
  }
}

/// Leaves it in rising_ and in the rates: the caller sees to that, for one or for many.
void ServerFill::Stop(int claim) {
  tasks_[claim] = claims_[claim].slope * (level_ - claims_[claim].start);
  is_rising_[claim] = 0;
}

void ServerFill::StopWhoNeed(int resource) {
  resources_[resource].full = true;
  std::erase_if(rising_, [&](int claim) {
    const bool needs = claims_[claim].uses[resource] > 0;
    if (needs) {
      Stop(claim);
    }
    return needs;
  });
  RecountRates();
}

/// Adds up anew: a rate from which others are taken away loses its digits.
void ServerFill::RecountRates() {
  for (ResourceState& state : resources_) {
    state.rate = 0;
    state.risers = 0;
  }
  for (const int claim : rising_) {
    AddRates(claim);
  }
}

bool ServerFill::NeedsFull(int claim) const {
  for (size_t r = 0; r < resources_.size(); ++r) {
    if (resources_[r].full && claims_[claim].uses[r] > 0) {
      return true;
    }
  }
  return false;
}

}  // namespace houtu::psdsf
