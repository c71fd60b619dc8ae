#include "master/service/job_index.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "common/base/ids.h"
#include "common/base/status.h"

namespace houtu::master {

absl::Status JobIndex::Refresh(const coordination::BlockingCoordination& store) {
  const std::lock_guard refreshing(refreshing_);
  HOUTU_ASSIGN_OR_RETURN(const std::vector<std::string> names, store.GetChildren(paths_.Jobs()));
  std::vector<std::string> unknown;
  {
    const std::lock_guard lock(mutex_);
    const std::set<std::string> present(names.begin(), names.end());
    std::erase_if(jobs_, [&](const auto& job) { return !present.contains(job.first); });
    std::copy_if(names.begin(), names.end(), std::back_inserter(unknown),
                 [&](const std::string& name) { return !jobs_.contains(name); });
  }
  for (const std::string& id : unknown) {
    const absl::StatusOr<coordination::Node> node = store.Get(paths_.Job(id));
    if (absl::IsNotFound(node.status())) {
      continue;  // removed meanwhile
    }
    HOUTU_RETURN_IF_ERROR(node.status());
    v1::JobRecord record;
    if (!record.ParseFromString(node->data)) {
      return Error(absl::StatusCode::kInternal, "the record of job {} is damaged", id);
    }
    const std::lock_guard lock(mutex_);
    jobs_[id] = {.id = id, .name = record.job().name(), .account = record.job().account()};
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> JobIndex::Resolve(const coordination::BlockingCoordination& store,
                                              const std::string& text, const Identity& caller) {
  if (IsJobId(text)) {
    const std::lock_guard lock(mutex_);
    if (const auto it = jobs_.find(text);
        it != jobs_.end() && caller.MayUseAccount(it->second.account)) {
      return text;
    }
  }
  HOUTU_RETURN_IF_ERROR(Refresh(store));
  return Find(text, caller);
}

absl::StatusOr<std::string> JobIndex::Find(const std::string& text, const Identity& caller) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> by_prefix;
  std::string by_name;
  for (const auto& [id, entry] : jobs_) {
    if (!caller.MayUseAccount(entry.account)) {
      continue;
    }
    if (id == text) {
      return id;
    }
    if (!text.empty() && id.starts_with(text)) {
      by_prefix.push_back(id);
    }
    if (entry.name == text) {
      by_name = id;  // ids rise with time: the newest stays
    }
  }
  if (!by_name.empty()) {
    return by_name;
  }
  if (by_prefix.size() == 1) {
    return by_prefix.front();
  }
  if (by_prefix.empty()) {
    return Error(absl::StatusCode::kNotFound,
                 "no job \"{}\": neither an id, nor the start of one, nor a name of yours (ended "
                 "jobs go after their retention)",
                 text);
  }
  constexpr size_t kListedMax = 10;
  const bool cut = by_prefix.size() > kListedMax;
  const size_t count = by_prefix.size();
  by_prefix.resize(std::min(count, kListedMax));
  return Error(absl::StatusCode::kFailedPrecondition, "\"{}\" is the start of {} jobs' ids: {}{}",
               text, count, absl::StrJoin(by_prefix, ", "), cut ? ", …" : "");
}

std::vector<std::string> JobIndex::Visible(const Identity& caller) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [id, entry] : jobs_) {
    if (caller.MayUseAccount(entry.account)) {
      out.push_back(id);
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace houtu::master
