#include "jobmanager/core/recorder.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "jobmanager/core/limits.h"

namespace houtu::jobmanager {

void Recorder::Mark(const RecordKey& key) {
  if (waiting_.try_emplace(key).second) {
    marked_.push_back(key);
  }
}

void Recorder::MarkThen(const RecordKey& key, Deferred deferred) {
  Mark(key);
  waiting_[key].push_back(std::move(deferred));
}

std::optional<WriteRecords> Recorder::Next(const Serialise& serialise) {
  if (in_flight_ || marked_.empty()) {
    return std::nullopt;
  }
  WriteRecords multi{.batch = ++batch_, .writes = {}, .ends_job = false};
  int64_t bytes = 0;
  while (!marked_.empty() && multi.writes.size() < kMultiWritesMax) {
    std::string data = serialise(marked_.front());
    bytes += static_cast<int64_t>(data.size());
    if (bytes > kMultiBytesMax && !multi.writes.empty()) {
      break;
    }
    const auto it = waiting_.find(marked_.front());
    multi.ends_job |= std::ranges::any_of(
        it->second, [](const Deferred& d) { return std::holds_alternative<JobEndRecorded>(d); });
    std::ranges::move(it->second, std::back_inserter(in_flight_deferred_));
    waiting_.erase(it);
    multi.writes.push_back({std::move(marked_.front()), std::move(data)});
    marked_.pop_front();
  }
  in_flight_ = true;
  return multi;
}

std::vector<Deferred> Recorder::Written(int64_t batch) {
  if (!in_flight_ || batch != batch_) {
    return {};
  }
  in_flight_ = false;
  return std::exchange(in_flight_deferred_, {});
}

}  // namespace houtu::jobmanager
