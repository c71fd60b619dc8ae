// Every limit of a job manager, with its unit and why it has this size.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace houtu::jobmanager {

/// Bytes of record data in one multi: well below ZooKeeper's 1 MiB, so that paths and headers fit.
inline constexpr int64_t kMultiBytesMax = 400 * 1024;
/// Writes in one multi.
inline constexpr int kMultiWritesMax = 200;
/// Bytes of one record: a record alone must fit into a multi.
inline constexpr int64_t kRecordBytesMax = 384 * 1024;
/// Tasks of one chunk: fewer make more records, more make each commit write more bytes anew.
inline constexpr int kChunkTasksMin = 8;
inline constexpr int kChunkTasksMax = 64;
/// Chunks that a small stage is cut into at most, before its chunks grow to kChunkTasksMax.
inline constexpr int kChunksWanted = 32;

/// Tasks of one stage.
inline constexpr int kStageTasksMax = 100'000;
/// Containers that a manager asks for at most, in all shapes together.
inline constexpr int kContainersMax = 512;
/// Tasks in one StartTasks message to an agent.
inline constexpr int kStartBatchMax = 256;
/// Partitions named in one StartTasks message, unless a single task names more.
inline constexpr int64_t kStartPartitionsMax = 20'000;

/// Attempt numbers of one manager term: a manager of term t gives numbers above (t - 1) times this.
inline constexpr int kAttemptsPerTerm = 10'000;
/// Longest pause between two attempts of a task.
inline constexpr absl::Duration kBackoffMax = absl::Seconds(60);
/// Pause before a task that lost an input asks again, should its input not have been re-opened.
inline constexpr absl::Duration kInputLostPause = absl::Seconds(1);
/// A raw input that could not be read so often ends the job: no other task can make it anew.
inline constexpr int kRawInputLossesMax = 10;

/// Starts in flight on a node that has not started a task of this job yet, or not since a failure.
inline constexpr int kUnprovenStartsMax = 3;
/// Pause after a node's first failed start; it grows fourfold with each further one.
inline constexpr absl::Duration kNodePauseFirst = absl::Seconds(2);
inline constexpr absl::Duration kNodePauseMax = absl::Seconds(60);
/// Containers of one image that may fail for the image's reasons, with no task started between,
/// before the job fails: not the first, for an image may be on its way to a node.
inline constexpr int kImageFailuresMax = 3;
/// Pause after a lease refused a start; it doubles with each further refusal.
inline constexpr absl::Duration kRefusedPauseFirst = absl::Milliseconds(100);
inline constexpr absl::Duration kRefusedPauseMax = absl::Seconds(5);

/// A held lease that the master does not list and whose agent is away is given up after this long.
inline constexpr absl::Duration kUnlistedLeaseMax = absl::Seconds(30);

/// Least time between two status records.
inline constexpr absl::Duration kStatusInterval = absl::Milliseconds(250);
/// Least time between two reports to the primary.
inline constexpr absl::Duration kReportInterval = absl::Milliseconds(200);
/// Running tasks named in a status or a report.
inline constexpr int kRunningListedMax = 1000;
/// Reasons named in a status.
inline constexpr int kWaitReasonsMax = 50;

/// Events of one record, and records that a manager keeps: the oldest is overwritten.
inline constexpr int kEventsPerRecord = 100;
inline constexpr int kEventRecords = 20;
/// Bytes of one event's message.
inline constexpr int kEventMessageMax = 1000;

/// Pause before inputs are listed again after the master could not be reached.
inline constexpr absl::Duration kListPauseFirst = absl::Milliseconds(200);
inline constexpr absl::Duration kListPauseMax = absl::Seconds(5);
/// Nodes and times that writing the result is tried where a node can't be reached, and the pause
/// before it is tried again, which doubles.
inline constexpr int kOutputTriesMax = 10;
inline constexpr absl::Duration kOutputPauseFirst = absl::Milliseconds(200);
inline constexpr absl::Duration kOutputPauseMax = absl::Seconds(5);
/// Time beyond the longest grace that stopped tasks may take before a job ends without them.
inline constexpr absl::Duration kStopSlack = absl::Seconds(10);

}  // namespace houtu::jobmanager
