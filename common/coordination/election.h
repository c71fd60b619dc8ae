// Leader election and terms, over Coordination. Below an election's path lie
//
//   <path>/election/c-<id>-<number>   ephemeral: one for each candidate; the lowest number leads
//   <path>/term                       its data version is the term; only ever set by a new leader
//   <path>/leader                     ephemeral: who leads, see leader.h
//
// Each candidate watches only the one before it, so an end wakes one. The <id> in the name is made
// by the candidate: a creation whose answer was lost is found again by it, never made twice. The
// winner raises the term and writes <path>/leader in one multi; every multi of a leader carries
// TermCheck(), so that a leader that slept can't write over a newer one (C12).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/coordination/coordination.h"
#include "common/coordination/leader.h"
#include "common/coordination/watch.h"

namespace houtu::coordination {

/// One candidacy of one session.
///
///   standing --on_elected--> leading <--on_resumed/on_suspended--> suspended
///       \________________________\_________________________________/
///                               on_lost (final)
///
/// Owner: a daemon's shell. Lifetime: within that of its Coordination. Thread: the Coordination's.
/// Starts by itself, as soon as the session is connected. When it ends it withdraws: the next one
/// leads without waiting for the session's end.
class Election {
 public:
  struct Options {
    /// The election's node; created with its parents if it is not there.
    std::string path = {};
    /// What followers are told of the leader: a serialized houtu.v1.Candidate.
    std::string candidate = {};
    /// Unique among all candidates ever, letters and digits; empty: random. For simulations.
    std::string id = {};
  };

  /// All are optional; none is called from inside a call, and none after the object's end. Each
  /// may end the Election.
  struct Callbacks {
    /// This candidate leads; `term` is above every earlier one.
    std::function<void(int64_t term)> on_elected = {};
    /// The connection is lost: still the leader, but make no new decision (C13).
    std::function<void()> on_suspended = {};
    /// Connected again, the own election node and term were read again and are the same.
    std::function<void(int64_t term)> on_resumed = {};
    /// The candidacy is over, leading or not: UNAVAILABLE the session expired; ABORTED a newer
    /// term, or somebody removed the node. Called once, last. To stand again make a new Election
    /// (and, after an expired session, a new Coordination).
    std::function<void(absl::Status reason)> on_lost = {};
  };

  Election(Coordination* coordination, Options options, Callbacks callbacks);
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  /// Whether this candidate leads and may decide: false while suspended.
  bool leading() const { return phase_ == Phase::kLeading; }

  /// The term of this candidate's leadership; 0 before it leads.
  int64_t term() const { return term_; }

  /// Put this first into every multi of the leader: the multi is ABORTED once a newer term began.
  /// Precondition: term() > 0.
  CheckOp TermCheck() const;

 private:
  enum class Phase { kStanding, kLeading, kSuspended, kLost };

  void OnState(SessionState state);

  // Each step towards the next phase starts with Look and ends with Rest, Fail or Lose.
  void Look();
  void EnsurePaths();
  void ReadCandidates();
  void OnCandidates(const Children& children);
  void CreateNode();
  void ReadTerm();
  void OnTerm(int32_t version);
  void ReadLeader(int32_t term_version);
  void TakeTerm(int32_t term_version, const std::optional<Node>& leader);
  void Rest();
  void Fail(const absl::Status& status);

  void WatchOwnNode();
  void WatchBefore(const std::string& name);
  void Lead(int64_t term);
  void Resume();
  void Lose(absl::Status reason);
  void Withdraw();
  std::string NodePath(const std::string& name) const;

  Coordination* const coordination_;
  const Options options_;
  const Callbacks callbacks_;
  Phase phase_ = Phase::kStanding;
  int64_t term_ = 0;
  bool paths_exist_ = false;
  bool busy_ = false;     // between Look and Rest, Fail or Lose
  bool again_ = false;    // look once more after that
  std::string own_name_;  // "c-<id>-<number>"; empty: not known to be there
  std::string before_name_;
  std::unique_ptr<DataWatch> own_watch_;
  std::unique_ptr<DataWatch> before_watch_;
  Subscription session_;
  Lifeline lifeline_;
};

}  // namespace houtu::coordination
