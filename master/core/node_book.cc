#include "master/core/node_book.h"

#include <algorithm>

namespace houtu::master {
namespace {

/// A lost node is listed for a day, so that people see what is missing.
constexpr absl::Duration kLostNodeKept = absl::Hours(24);

}  // namespace

NodeEntry& NodeBook::Register(absl::Time now, SessionId session, const v1::Node& node,
                              std::optional<SessionId>* replaced) {
  NodeEntry& entry = nodes_[node.name()];
  *replaced = entry.session;
  entry.node = node;
  if (entry.node.rack().empty()) {
    entry.node.set_rack("node:" + node.name());
  }
  entry.session = session;
  entry.heard_at = now;
  entry.lost = false;
  return entry;
}

NodeEntry* NodeBook::Find(const std::string& name) {
  const auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : &it->second;
}

NodeEntry* NodeBook::FindBySession(const std::string& name, SessionId session) {
  NodeEntry* entry = Find(name);
  return entry != nullptr && entry->session == session ? entry : nullptr;
}

std::vector<std::string> NodeBook::TakeSilent(absl::Time now) {
  std::vector<std::string> silent;
  for (auto& [name, entry] : nodes_) {
    if (!entry.lost && now - entry.heard_at >= timeout_) {
      entry.lost = true;
      entry.session.reset();
      silent.push_back(name);
    }
  }
  std::erase_if(nodes_, [&](const auto& n) {
    return n.second.lost && now - n.second.heard_at > kLostNodeKept;
  });
  return silent;
}

absl::Time NodeBook::NextSilence() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [name, entry] : nodes_) {
    if (!entry.lost) {
      next = std::min(next, entry.heard_at + timeout_);
    }
  }
  return next;
}

}  // namespace houtu::master
