#include "common/coordination/election.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/ids.h"
#include "common/base/status.h"
#include "common/coordination/ensure_path.h"
#include "common/log/log.h"

namespace houtu::coordination {
namespace {

constexpr int kIdBytes = 12;          // of a candidate's random id
constexpr size_t kNumberDigits = 10;  // of a sequential node's name

Election::Options WithId(Election::Options options) {
  if (options.id.empty()) options.id = Hex(RandomBytes(kIdBytes));
  return options;
}

std::string_view NumberOf(std::string_view name) {
  return name.substr(name.size() - std::min(name.size(), kNumberDigits));
}

// The candidates by their numbers: the ids in front of them have no order.
std::vector<std::string> ByNumber(std::vector<std::string> names) {
  std::sort(names.begin(), names.end(),
            [](const std::string& a, const std::string& b) { return NumberOf(a) < NumberOf(b); });
  return names;
}

}  // namespace

Election::Election(Coordination* coordination, Options options, Callbacks callbacks)
    : coordination_(coordination),
      options_(WithId(std::move(options))),
      callbacks_(std::move(callbacks)),
      session_(coordination->OnSessionState([this](SessionState state) { OnState(state); })) {
  if (coordination_->state() == SessionState::kConnected) Look();
  if (coordination_->state() == SessionState::kExpired) {
    coordination_->post()(lifeline_.Guard([this] { OnState(SessionState::kExpired); }));
  }
}

Election::~Election() {
  if (phase_ != Phase::kLost) Withdraw();
}

CheckOp Election::TermCheck() const {
  HOUTU_CHECK(term_ > 0, "only a leader has a term to check");
  return CheckOp{.path = options_.path + "/term", .version = static_cast<int32_t>(term_)};
}

void Election::OnState(SessionState state) {
  if (phase_ == Phase::kLost) return;
  switch (state) {
    case SessionState::kConnecting:
      return;
    case SessionState::kConnected:
      Look();
      return;
    case SessionState::kSuspended:
      if (phase_ != Phase::kLeading) return;
      phase_ = Phase::kSuspended;
      LogWarning("leader suspended: no connection", {{"election", options_.path}, {"term", term_}});
      if (const auto tell = callbacks_.on_suspended) tell();
      return;
    case SessionState::kExpired:
      Lose(absl::UnavailableError("the coordination session expired"));
      return;
  }
}

// Finds out where this candidate stands, and takes the next step: the same way at the start, when
// the candidate before it is gone, and after every lost connection.
void Election::Look() {
  if (phase_ == Phase::kLost) return;
  if (busy_) {
    again_ = true;
    return;
  }
  busy_ = true;
  again_ = false;
  if (paths_exist_) {
    ReadCandidates();
  } else {
    EnsurePaths();
  }
}

void Election::EnsurePaths() {
  EnsurePath(coordination_, options_.path + "/term",
             lifeline_.Guard([this](const absl::Status& term_made) {
               if (!term_made.ok()) return Fail(term_made);
               EnsurePath(coordination_, options_.path + "/election",
                          lifeline_.Guard([this](const absl::Status& made) {
                            if (!made.ok()) return Fail(made);
                            paths_exist_ = true;
                            ReadCandidates();
                          }));
             }));
}

void Election::ReadCandidates() {
  coordination_->GetChildren(options_.path + "/election",
                             lifeline_.Guard([this](const absl::StatusOr<Children>& children) {
                               if (!children.ok()) return Fail(children.status());
                               OnCandidates(*children);
                             }));
}

void Election::OnCandidates(const Children& children) {
  const std::string prefix = "c-" + options_.id + "-";
  const std::vector<std::string> names = ByNumber(children.names);
  const auto is_own = [&](const std::string& name) { return name.starts_with(prefix); };
  const auto own = std::find_if(names.begin(), names.end(), is_own);
  if (own == names.end()) {
    if (own_name_.empty()) return CreateNode();
    return Lose(absl::AbortedError("the candidate's election node was removed"));
  }
  // A creation repeated after a lost answer may have been done twice; the first counts.
  for (auto it = own + 1; it != names.end(); ++it) {
    if (is_own(*it)) coordination_->Delete(NodePath(*it), kAnyVersion, [](const absl::Status&) {});
  }
  own_name_ = *own;
  WatchOwnNode();
  if (own == names.begin()) return ReadTerm();
  WatchBefore(*(own - 1));
  Rest();
}

void Election::CreateNode() {
  // Not guarded: a node whose candidate ended meanwhile must not stay and win.
  const std::string path = NodePath("c-" + options_.id + "-");
  coordination_->Create(path, "", CreateFlags{.ephemeral = true, .sequential = true},
                        [this, alive = lifeline_.token(),
                         coordination = coordination_](const absl::StatusOr<std::string>& created) {
                          if (alive.expired()) {
                            if (created.ok())
                              coordination->Delete(*created, kAnyVersion,
                                                   [](const absl::Status&) {});
                            return;
                          }
                          if (!created.ok()) return Fail(created.status());
                          again_ = true;
                          Rest();
                        });
}

void Election::ReadTerm() {
  coordination_->Get(options_.path + "/term",
                     lifeline_.Guard([this](const absl::StatusOr<Node>& node) {
                       if (!node.ok()) return Fail(node.status());
                       OnTerm(node->stat.version);
                     }));
}

void Election::OnTerm(int32_t version) {
  if (term_ == 0) return ReadLeader(version);
  if (version != term_) {
    return Lose(Error(absl::StatusCode::kAborted, "term {} began after this leader's term {}",
                      version, term_));
  }
  Resume();
}

void Election::ReadLeader(int32_t term_version) {
  coordination_->Get(options_.path + "/leader",
                     lifeline_.Guard([this, term_version](const absl::StatusOr<Node>& node) {
                       if (!node.ok() && !absl::IsNotFound(node.status()))
                         return Fail(node.status());
                       TakeTerm(term_version,
                                node.ok() ? std::optional<Node>(*node) : std::nullopt);
                     }));
}

void Election::TakeTerm(int32_t term_version, const std::optional<Node>& leader) {
  const int64_t term = term_version + 1;
  std::vector<Op> ops = {
      CheckOp{.path = NodePath(own_name_)},
      SetOp{.path = options_.path + "/term", .data = "", .version = term_version}};
  if (leader.has_value()) {
    const std::optional<LeaderRecord> record = ParseLeader(leader->data);
    // Its own record: the multi that took this term was done, only its answer was lost.
    if (record && record->node == own_name_ && record->leader.term == term_version) {
      return Lead(term_version);
    }
    ops.push_back(DeleteOp{.path = options_.path + "/leader", .version = leader->stat.version});
  }
  LeaderRecord record{.leader = {.candidate = options_.candidate, .term = term}, .node = own_name_};
  ops.push_back(CreateOp{.path = options_.path + "/leader",
                         .data = FormatLeader(record),
                         .flags = {.ephemeral = true}});
  coordination_->Multi(std::move(ops), lifeline_.Guard([this, term](const MultiResult& result) {
    if (!result.status.ok()) return Fail(result.status);
    Lead(term);
  }));
}

void Election::Rest() {
  busy_ = false;
  if (again_) Look();
}

void Election::Fail(const absl::Status& status) {
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
    return Rest();  // the next kConnected looks again
  }
  const bool lost_race =
      absl::IsNotFound(status) || absl::IsAlreadyExists(status) || absl::IsAborted(status);
  if (!lost_race) return Lose(Annotate(status, "candidate in " + options_.path));
  paths_exist_ = false;
  again_ = true;
  Rest();
}

void Election::WatchOwnNode() {
  if (own_watch_ != nullptr) return;
  own_watch_ = std::make_unique<DataWatch>(
      coordination_, NodePath(own_name_), [this](const std::optional<Node>& node) {
        if (node.has_value()) return;
        Lose(absl::AbortedError("the candidate's election node was removed"));
      });
}

void Election::WatchBefore(const std::string& name) {
  if (before_watch_ != nullptr && before_name_ == name) return;
  before_name_ = name;
  before_watch_ = std::make_unique<DataWatch>(coordination_, NodePath(name),
                                              [this](const std::optional<Node>& node) {
                                                if (!node.has_value()) Look();
                                              });
}

void Election::Lead(int64_t term) {
  term_ = term;
  phase_ = Phase::kLeading;
  before_watch_.reset();
  LogInfo("leader elected", {{"election", options_.path}, {"term", term}, {"node", own_name_}});
  const auto tell = callbacks_.on_elected;
  const std::weak_ptr<const int> alive = lifeline_.token();
  if (tell) tell(term);
  if (!alive.expired()) Rest();
}

void Election::Resume() {
  const bool resumed =
      phase_ == Phase::kSuspended && coordination_->state() == SessionState::kConnected;
  if (!resumed) return Rest();
  phase_ = Phase::kLeading;
  LogInfo("leader resumed", {{"election", options_.path}, {"term", term_}});
  const auto tell = callbacks_.on_resumed;
  const std::weak_ptr<const int> alive = lifeline_.token();
  if (tell) tell(term_);
  if (!alive.expired()) Rest();
}

void Election::Lose(absl::Status reason) {
  if (phase_ == Phase::kLost) return;
  LogWarning("candidacy lost", {{"election", options_.path}, {"term", term_}, {"reason", reason}});
  // Whatever of it is left must not hold up the others; a session that is over has nothing left.
  if (!absl::IsUnavailable(reason)) Withdraw();
  phase_ = Phase::kLost;
  own_watch_.reset();
  before_watch_.reset();
  if (const auto tell = callbacks_.on_lost) tell(std::move(reason));
}

void Election::Withdraw() {
  if (own_name_.empty() || coordination_->state() != SessionState::kConnected) return;
  if (term_ > 0) {
    // Of this term only: the record may be a newer leader's by now.
    coordination_->Multi({TermCheck(), DeleteOp{.path = options_.path + "/leader"}},
                         [](const MultiResult&) {});
  }
  coordination_->Delete(NodePath(own_name_), kAnyVersion, [](const absl::Status&) {});
}

std::string Election::NodePath(const std::string& name) const {
  return options_.path + "/election/" + name;
}

}  // namespace houtu::coordination
