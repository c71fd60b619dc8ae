// Watches that last: the current value and every later one, whatever happens to the connection.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/coordination/coordination.h"
#include "common/coordination/lasting_watch.h"

namespace houtu::coordination {

/// Tells a node's data, now and after each change, until the object's end. Quick changes may be
/// told as one, the last is always told; after a lost connection the node is read again. Ends with
/// the session: after kExpired nothing is told any more.
///
/// Owner: whoever wants to know. Lifetime: within that of its Coordination; the callback may end
/// it. Thread: the Coordination's. `callback` is never called from inside the constructor.
class DataWatch {
 public:
  /// Empty: no such node.
  using DataCallback = std::function<void(const std::optional<Node>&)>;

  DataWatch(Coordination* coordination, const std::string& path, DataCallback callback);

 private:
  LastingWatch<std::optional<Node>> watch_;
};

/// Tells the names of a node's children, now and after each change. Otherwise as DataWatch.
class ChildrenWatch {
 public:
  /// Sorted names; none also if the node is not there.
  using NamesCallback = std::function<void(const std::vector<std::string>&)>;

  ChildrenWatch(Coordination* coordination, const std::string& path, NamesCallback callback);

 private:
  LastingWatch<std::vector<std::string>> watch_;
};

}  // namespace houtu::coordination
