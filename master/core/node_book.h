// NodeBook: the datacenter's nodes as their agents register and report them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "houtu/v1/node.pb.h"
#include "master/core/events.h"

namespace houtu::master {

struct NodeEntry {
  /// As registered; state and message as last reported.
  v1::Node node;
  /// The agent's session; empty: none just now.
  std::optional<SessionId> session;
  absl::Time heard_at;
  /// Its agent was not heard for longer than the limit: its leases have ended.
  bool lost = false;

  /// Takes new leases.
  bool Takes() const { return session.has_value() && node.state() == v1::Node::STATE_READY; }
};

/// Owner: MasterCore. One thread.
class NodeBook {
 public:
  explicit NodeBook(absl::Duration timeout) : timeout_(timeout) {}

  /// The entry, new or with the newer registration; the session that it replaces, if any, in
  /// `replaced`.
  NodeEntry& Register(absl::Time now, SessionId session, const v1::Node& node,
                      std::optional<SessionId>* replaced);
  /// nullptr: unknown.
  NodeEntry* Find(const std::string& name);
  /// nullptr: unknown, or that is not its session any more.
  NodeEntry* FindBySession(const std::string& name, SessionId session);

  /// Nodes not heard for the limit: marked lost, names returned.
  std::vector<std::string> TakeSilent(absl::Time now);
  /// When the next node would fall silent; InfiniteFuture: none could.
  absl::Time NextSilence() const;

  const std::map<std::string, NodeEntry>& all() const { return nodes_; }

 private:
  absl::Duration timeout_;
  std::map<std::string, NodeEntry> nodes_;
};

}  // namespace houtu::master
