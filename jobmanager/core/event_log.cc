#include "jobmanager/core/event_log.h"

#include <utility>

#include "common/base/time.h"
#include "jobmanager/core/limits.h"

namespace houtu::jobmanager {
namespace {

// Cut where a character ends.
std::string Shortened(const std::string& text) {
  size_t end = std::min<size_t>(text.size(), kEventMessageMax);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return text.substr(0, end);
}

}  // namespace

void EventLog::Restore(int number, const v1::EventsRecord& record) {
  if (number < 0 || number >= kEventRecords) {
    return;
  }
  if (record.events_size() > 0) {
    const absl::Time last = FromProto(record.events(record.events_size() - 1).at());
    if (last >= newest_) {
      newest_ = last;
      current_ = number;
    }
  }
  records_[number] = record;
}

RecordKey EventLog::Add(absl::Time now, v1::JobEvent event) {
  if (records_[current_].events_size() >= kEventsPerRecord) {
    current_ = (current_ + 1) % kEventRecords;
    records_[current_].Clear();
  }
  *event.mutable_at() = ToProto(now);
  event.set_datacenter(datacenter_);
  event.set_message(Shortened(event.message()));
  *records_[current_].add_events() = std::move(event);
  return RecordKey::Events(current_);
}

}  // namespace houtu::jobmanager
