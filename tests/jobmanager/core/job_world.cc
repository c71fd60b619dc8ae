#include "tests/jobmanager/core/job_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

namespace houtu::jobmanager {
namespace {

template <typename Message>
Message Parsed(const std::string& data) {
  Message message;
  EXPECT_TRUE(message.ParseFromString(data));
  return message;
}

bool HasOwner(const RecordKey& key) {
  return key.kind == RecordKey::Kind::kFinished || key.kind == RecordKey::Kind::kEvents;
}

}  // namespace

JobWorld::JobWorld(v1::JobRecord job) : job_(std::move(job)) {
  for (const std::string& datacenter : job_.datacenters()) {
    sites_[datacenter];
  }
}

void JobWorld::Begin() {
  for (const std::string& datacenter : job_.datacenters()) {
    Restart(datacenter);
  }
}

void JobWorld::Run(absl::Duration limit) {
  const absl::Time end = now + limit;
  while (!finished) {
    absl::Time wake = absl::InfiniteFuture();
    for (const auto& [name, site] : sites_) {
      wake = std::min(wake, site.core == nullptr ? absl::InfiniteFuture() : site.wake_at);
    }
    if (wake > end) {
      now = end;
      return;
    }
    now = std::max(now, wake);
    for (const auto& [name, site] : sites_) {
      if (site.wake_at <= now) {
        Push(name, Tick{});
      }
    }
    Drain();
  }
}

void JobWorld::Do(Event event, const std::string& datacenter) {
  Push(datacenter, std::move(event));
  Drain();
}

void JobWorld::Drain() {
  while (!events_.empty()) {
    const auto [datacenter, event] = std::move(events_.front());
    events_.pop_front();
    Site& site = sites_.at(datacenter);
    if (site.core == nullptr || site.finished) {
      continue;
    }
    Effects effects = site.core->Step(now, event);
    site.wake_at = effects.wake_at;
    for (Effect& effect : effects.list) {
      std::visit([&](auto& e) { On(datacenter, e); }, effect);
    }
  }
}

void JobWorld::Kill(const std::string& datacenter) {
  Site& site = sites_.at(datacenter);
  site.core.reset();
  site.held.reset();
  site.wake_at = absl::InfiniteFuture();
  for (auto& [name, node] : site.nodes) {
    node.session = false;
  }
  std::erase_if(events_, [&](const auto& event) { return event.first == datacenter; });
}

void JobWorld::Restart(const std::string& datacenter) {
  Kill(datacenter);
  Site& site = sites_.at(datacenter);
  site.core = std::make_unique<JobManagerCore>(
      JobContext{.job = job_, .datacenter = datacenter, .node = "n0", .term = ++site.term});
  Push(datacenter, Recover(datacenter));
  Connect(datacenter);
  Drain();
}

Recovered JobWorld::Recover(const std::string& datacenter) const {
  Recovered recovered;
  for (const auto& [stored, data] : records) {
    const auto& [owner, key] = stored;
    if (key.kind == RecordKey::Kind::kState) {
      recovered.state = Parsed<v1::JobStateRecord>(data);
    } else if (key.kind == RecordKey::Kind::kStage) {
      recovered.stages.push_back({key.stage, Parsed<v1::StageRecord>(data)});
    } else if (key.kind == RecordKey::Kind::kAssignment) {
      recovered.assignments.push_back(
          {key.stage, key.datacenter, key.chunk, Parsed<v1::AssignmentRecord>(data)});
    } else if (key.kind == RecordKey::Kind::kFinished) {
      recovered.finished.push_back({key.stage, owner, key.chunk, Parsed<v1::FinishedRecord>(data)});
    } else if (key.kind == RecordKey::Kind::kEvents && owner == datacenter) {
      recovered.events.emplace_back(key.chunk, Parsed<v1::EventsRecord>(data));
    }
  }
  return recovered;
}

// ---- Records ----

void JobWorld::On(const std::string& datacenter, WriteRecords& write) {
  batches.push_back(write);
  Site& site = sites_.at(datacenter);
  EXPECT_FALSE(site.held.has_value()) << "one multi is under way at a time";
  site.held = std::move(write);
  if (!hold_records) {
    Apply(datacenter, *std::exchange(site.held, std::nullopt));
  }
}

void JobWorld::ReleaseRecords() {
  hold_records = false;
  for (auto& [name, site] : sites_) {
    if (const auto held = std::exchange(site.held, std::nullopt); held.has_value()) {
      Apply(name, *held);
    }
  }
  Drain();
}

void JobWorld::Apply(const std::string& writer, const WriteRecords& write) {
  for (const WriteRecords::Write& one : write.writes) {
    records[{HasOwner(one.key) ? writer : "", one.key}] = one.data;
  }
  for (const bool stages : {!tell_stages_late, tell_stages_late}) {
    for (const WriteRecords::Write& one : write.writes) {
      if ((one.key.kind == RecordKey::Kind::kStage) == stages) {
        TellOthers(writer, one.key, one.data);
      }
    }
  }
  Push(writer, RecordsWritten{write.batch});
}

void JobWorld::TellOthers(const std::string& writer, const RecordKey& key,
                          const std::string& data) {
  for (const auto& [name, site] : sites_) {
    if (name == writer) {
      continue;
    }
    if (key.kind == RecordKey::Kind::kStage) {
      Push(name, StageRead{key.stage, Parsed<v1::StageRecord>(data)});
    } else if (key.kind == RecordKey::Kind::kState) {
      Push(name, StateRead{Parsed<v1::JobStateRecord>(data)});
    } else if (key.kind == RecordKey::Kind::kAssignment && key.datacenter == name) {
      Push(name, AssignmentRead{key.stage, key.chunk, Parsed<v1::AssignmentRecord>(data)});
    } else if (key.kind == RecordKey::Kind::kFinished) {
      Push(name, FinishedRead{key.stage, writer, key.chunk, Parsed<v1::FinishedRecord>(data)});
    }
  }
}

// ---- The other managers, and the end ----

void JobWorld::On(const std::string& /*datacenter*/, ReportToPrimary& report) {
  reports.push_back(report.report);
  if (!lose_reports) {
    Push(job_.primary_datacenter(), PeerReported{std::move(report.report)});
  }
}

void JobWorld::On(const std::string& /*datacenter*/, WriteOutput& write) {
  outputs.push_back(std::move(write));
  Push(job_.primary_datacenter(), OutputWritten{writes(outputs.back())});
}

void JobWorld::On(const std::string& datacenter, Finish& /*finish*/) {
  sites_.at(datacenter).finished = true;
  sites_.at(datacenter).wake_at = absl::InfiniteFuture();
  finished |= datacenter == job_.primary_datacenter();
}

// ---- What came of it ----

std::vector<std::string> JobWorld::StartedNames() const {
  std::vector<std::string> names;
  for (const v1::TaskSpec& spec : started) {
    names.push_back(NameOf(spec.id()));
  }
  return names;
}

const v1::TaskSpec& JobWorld::Started(const std::string& name) const {
  for (const v1::TaskSpec& spec : started) {
    if (NameOf(spec.id()) == name) {
      return spec;
    }
  }
  ADD_FAILURE() << name << " was not started";
  static const v1::TaskSpec* const kNone = new v1::TaskSpec();
  return *kNone;
}

std::vector<std::string> JobWorld::Alive(const std::string& datacenter) const {
  std::vector<std::string> names;
  for (const auto& [node_name, node] : sites_.at(datacenter).nodes) {
    for (const auto& [name, attempt] : node.attempts) {
      names.push_back(name);
    }
  }
  return names;
}

int JobWorld::Leases(const std::string& datacenter) const {
  return static_cast<int>(sites_.at(datacenter).leases.size());
}

}  // namespace houtu::jobmanager
