#include "master/service/job_writer.h"

#include <charconv>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"

namespace houtu::master {
namespace {

using coordination::CreateOp;
using coordination::DeleteOp;
using coordination::MultiResult;
using coordination::Op;
using coordination::SetOp;

/// Tries at a number for a new account while others take numbers too.
constexpr int kAccountTries = 20;

}  // namespace

absl::StatusOr<v1::JobRecord> JobWriter::FindSame(const v1::JobRecord& record) const {
  HOUTU_ASSIGN_OR_RETURN(const coordination::Node node, store_.Get(paths_.Job(record.id())));
  v1::JobRecord there;
  if (!there.ParseFromString(node.data) || there.job_sha256() != record.job_sha256() ||
      there.job().account() != record.job().account()) {
    return Error(absl::StatusCode::kAlreadyExists, "another job has the id {}", record.id());
  }
  return there;
}

absl::StatusOr<JobWriter::Submitted> JobWriter::Submit(const v1::JobRecord& record,
                                                       int jobs_active_max) {
  absl::StatusOr<v1::JobRecord> there = FindSame(record);
  if (there.ok()) {
    return Submitted{.record = *std::move(there)};
  }
  if (!absl::IsNotFound(there.status())) {
    return there.status();
  }
  HOUTU_ASSIGN_OR_RETURN(const std::vector<std::string> active,
                         store_.GetChildren(paths_.AllActive()));
  if (static_cast<int>(active.size()) >= jobs_active_max) {
    return Error(absl::StatusCode::kResourceExhausted,
                 "{} jobs have not ended, the limit (jobs_active_max) is {}; try again later",
                 active.size(), jobs_active_max);
  }
  v1::JobStateRecord state;
  state.set_state(v1::JOB_STATE_PENDING);
  const std::string& id = record.id();
  const MultiResult result = store_.Multi(
      {term_check_, CreateOp{.path = paths_.Job(id), .data = record.SerializeAsString()},
       CreateOp{.path = paths_.State(id), .data = state.SerializeAsString()},
       CreateOp{.path = paths_.Managers(id)}, CreateOp{.path = paths_.Stages(id)},
       CreateOp{.path = paths_.Active(id)}});
  if (absl::IsAlreadyExists(result.status)) {  // the same call, sent twice, came in between
    HOUTU_ASSIGN_OR_RETURN(v1::JobRecord earlier, FindSame(record));
    return Submitted{.record = std::move(earlier)};
  }
  HOUTU_RETURN_IF_ERROR(result.status);
  return Submitted{.record = record, .is_new = true};
}

absl::StatusOr<int> JobWriter::EnsureAccount(const std::string& account) {
  for (int i = 0; i < kAccountTries; ++i) {
    const absl::StatusOr<coordination::Node> known = store_.Get(paths_.Account(account));
    if (known.ok()) {
      v1::AccountRecord record;
      record.ParseFromString(known->data);
      return record.number();
    }
    if (!absl::IsNotFound(known.status())) {
      return known.status();
    }
    HOUTU_ASSIGN_OR_RETURN(const coordination::Node all, store_.Get(paths_.Accounts()));
    int next = 0;
    std::from_chars(all.data.data(), all.data.data() + all.data.size(), next);
    v1::AccountRecord record;
    record.set_name(account);
    record.set_number(next);
    const MultiResult result = store_.Multi(
        {term_check_,
         SetOp{.path = paths_.Accounts(),
               .data = std::to_string(next + 1),
               .version = all.stat.version},
         CreateOp{.path = paths_.Account(account), .data = record.SerializeAsString()}});
    if (result.status.ok()) {
      return next;
    }
    const bool lost_the_race = absl::IsAborted(result.status) && result.failed_op != 0;
    if (!lost_the_race && !absl::IsAlreadyExists(result.status)) {
      return result.status;
    }
  }
  return Error(absl::StatusCode::kUnavailable, "no number for the account {} just now; try again",
               account);
}

absl::Status JobWriter::RequestCancel(const std::string& job, const std::string& by,
                                      absl::Time now) {
  v1::CancelRecord record;
  record.set_by(by);
  *record.mutable_at() = ToProto(now);
  const MultiResult result = store_.Multi(
      {term_check_, CreateOp{.path = paths_.Cancel(job), .data = record.SerializeAsString()}});
  return absl::IsAlreadyExists(result.status) ? absl::OkStatus() : result.status;
}

absl::Status JobWriter::EndJob(const std::string& job, v1::JobState state,
                               const std::string& message, absl::Time now) {
  v1::JobStateRecord record;
  record.set_state(state);
  record.set_message(message);
  *record.mutable_ended_at() = ToProto(now);
  const MultiResult result =
      store_.Multi({term_check_, DeleteOp{.path = paths_.Active(job)},
                    SetOp{.path = paths_.State(job), .data = record.SerializeAsString()}});
  return absl::IsNotFound(result.status) ? absl::OkStatus() : result.status;
}

absl::Status JobWriter::Remove(const std::string& job) { return RemoveTree(paths_.Job(job)); }

absl::Status JobWriter::RemoveTree(const std::string& path) {
  const absl::StatusOr<std::vector<std::string>> children = store_.GetChildren(path);
  if (absl::IsNotFound(children.status())) {
    return absl::OkStatus();
  }
  HOUTU_RETURN_IF_ERROR(children.status());
  for (const std::string& child : *children) {
    HOUTU_RETURN_IF_ERROR(RemoveTree(path + "/" + child));
  }
  const absl::Status deleted = store_.Delete(path);
  return absl::IsNotFound(deleted) ? absl::OkStatus() : deleted;
}

}  // namespace houtu::master
