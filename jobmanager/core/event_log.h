// EventLog: what happened to the job in this datacenter, for people, in a ring of records.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "houtu/v1/record.pb.h"
#include "jobmanager/core/types.h"

namespace houtu::jobmanager {

/// Owner: JobManagerCore. Not thread-safe. Holds kEventRecords records of kEventsPerRecord events;
/// the oldest record is overwritten.
class EventLog {
 public:
  explicit EventLog(std::string datacenter) : datacenter_(std::move(datacenter)) {}

  void Restore(int number, const v1::EventsRecord& record);

  /// Adds the event, with its message cut to kEventMessageMax; the record that must be written.
  RecordKey Add(absl::Time now, v1::JobEvent event);

  const v1::EventsRecord& Record(int number) const { return records_.at(number); }
  const std::map<int, v1::EventsRecord>& records() const { return records_; }

 private:
  std::string datacenter_;
  std::map<int, v1::EventsRecord> records_;
  int current_ = 0;
  absl::Time newest_ = absl::InfinitePast();
};

}  // namespace houtu::jobmanager
