// The status file: how an attempt's first process ended. houtu-executor writes it as `status.new`
// in the attempt's folder and renames it to `status`; the agent reads it. One key=value a line,
// values are decimal integers; a reader skips keys that it does not know.
//
// It belongs to the container's user 0, so a task could forge its own end; that harms its own
// account's job alone.
#pragma once

namespace houtu::agent {

inline constexpr char kStatusName[] = "status";
inline constexpr char kStatusNewName[] = "status.new";

/// 0 to 255, or -1 when a signal ended it.
inline constexpr char kStatusExit[] = "exit_status";
/// 0: none.
inline constexpr char kStatusSignal[] = "signal";
/// 1: the attempt's timeout had passed before its end.
inline constexpr char kStatusTimedOut[] = "timed_out";
/// 1: it was told to stop before its end.
inline constexpr char kStatusStopped[] = "stopped";
/// Wall clock, nanoseconds since 1970.
inline constexpr char kStatusStarted[] = "started_unix_ns";
inline constexpr char kStatusEnded[] = "ended_unix_ns";
/// The errno by which writing the log failed; 0: the log is whole.
inline constexpr char kStatusLogErrno[] = "log_errno";

}  // namespace houtu::agent
