// Limits of every connection, by name. Servers accept the pings that our clients send (C28): gRPC's
// defaults answer frequent pings on a quiet connection with GOAWAY too_many_pings.
#pragma once

#include "absl/time/time.h"

namespace houtu {

/// Largest message sent or accepted.
inline constexpr int kMessageBytesMax = 16 << 20;
/// A client pings a quiet connection this often …
inline constexpr absl::Duration kKeepaliveInterval = absl::Seconds(10);
/// … and gives it up when no answer comes within this time.
inline constexpr absl::Duration kKeepaliveTimeout = absl::Seconds(5);
/// A server accepts pings this often: half the interval, for clocks that disagree.
inline constexpr absl::Duration kPingIntervalAccepted = absl::Seconds(5);
/// First and longest pause between attempts to connect.
inline constexpr absl::Duration kReconnectBackoffFirst = absl::Milliseconds(50);
inline constexpr absl::Duration kReconnectBackoffMax = absl::Seconds(1);
/// Deadline of calls that name no other.
inline constexpr absl::Duration kCallDeadline = absl::Seconds(10);
/// Messages that may wait in one stream to be written; a peer that reads slower is cut off.
inline constexpr size_t kStreamMessagesQueuedMax = 100'000;

}  // namespace houtu
