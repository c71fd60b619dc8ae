#include "client/outputs/fetcher.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "client/outputs/receiver.h"

namespace houtu::client {
namespace {

/// Whether a further stream may bring what this one did not.
bool IsWorthAnother(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kDataLoss;
}

std::vector<std::vector<v1::OutputFile>> GroupByAgent(const std::vector<v1::OutputFile>& files,
                                                      size_t group_max) {
  std::map<std::pair<std::string, std::string>, std::vector<v1::OutputFile>> open;
  std::vector<std::vector<v1::OutputFile>> groups;
  for (const v1::OutputFile& file : files) {
    auto& group = open[{file.agent_address(), file.stage()}];
    group.push_back(file);
    if (group.size() == group_max) {
      groups.push_back(std::exchange(group, {}));
    }
  }
  for (auto& [key, group] : open) {
    if (!group.empty()) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

}  // namespace

Fetcher::Fetcher(Agents* agents, const OutputFolder* folder, Interrupt* interrupt,
                 std::function<void(size_t)> on_progress)
    : agents_(agents),
      folder_(folder),
      interrupt_(interrupt),
      on_progress_(std::move(on_progress)) {}

std::vector<MissingFile> Fetcher::Fetch(const std::string& job_id,
                                        const std::vector<v1::OutputFile>& files) {
  const std::vector<Group> groups = GroupByAgent(files, kFilesPerStream);
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::vector<MissingFile> missing;
  const auto work = [&] {
    for (size_t i = next++; i < groups.size(); i = next++) {
      std::vector<MissingFile> left = FetchGroup(job_id, groups[i]);
      const std::lock_guard lock(mutex);
      on_progress_(groups[i].size() - left.size());
      std::move(left.begin(), left.end(), std::back_inserter(missing));
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min<size_t>(kAgentsAtATime, groups.size()); ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::sort(missing.begin(), missing.end(), [](const MissingFile& a, const MissingFile& b) {
    return std::tuple(a.file.stage(), a.file.task(), a.file.name()) <
           std::tuple(b.file.stage(), b.file.task(), b.file.name());
  });
  return missing;
}

std::vector<MissingFile> Fetcher::FetchGroup(const std::string& job_id, Group group) {
  std::vector<MissingFile> missing;
  int fruitless = 0;
  while (!group.empty()) {
    const size_t before = group.size();
    const absl::Status why =
        interrupt_->fired() ? absl::CancelledError("interrupted") : FetchOnce(job_id, &group);
    if (why.code() == absl::StatusCode::kNotFound && before > 1) {
      // One of them is gone: ask for each alone, so that the others come.
      for (v1::OutputFile& file : group) {
        auto left = FetchGroup(job_id, {std::move(file)});
        std::move(left.begin(), left.end(), std::back_inserter(missing));
      }
      return missing;
    }
    fruitless = group.size() < before ? 0 : fruitless + 1;
    const bool again = (why.ok() || IsWorthAnother(why)) && fruitless < kAttempts;
    if (!group.empty() && (!again || !interrupt_->Sleep(kRetryPause))) {
      for (v1::OutputFile& file : group) {
        missing.push_back({std::move(file), why.ok() ? absl::DataLossError("not sent") : why});
      }
      return missing;
    }
  }
  return missing;
}

absl::Status Fetcher::FetchOnce(const std::string& job_id, Group* group) {
  v1::FetchPartitionsRequest request;
  request.set_job(job_id);
  request.set_stage(group->front().stage());
  for (const v1::OutputFile& file : *group) {
    v1::PartitionRef* ref = request.add_partitions();
    ref->set_task(file.task());
    ref->set_attempt(file.attempt());
    ref->set_name(file.name());
    ref->set_size_bytes(file.size_bytes());
  }
  Receiver receiver(folder_, *group);
  const absl::Status status =
      agents_->FetchPartitions(group->front().agent_address(), request,
                               [&](const v1::FileChunk& chunk) { return receiver.Take(chunk); });
  *group = receiver.Missing();
  return status;
}

}  // namespace houtu::client
