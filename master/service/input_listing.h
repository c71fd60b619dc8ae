// InputListing: asks a datacenter's agents for the files that raw inputs name, and gathers the
// answers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/loop/event_loop.h"
#include "houtu/v1/agent_master_service.pb.h"
#include "houtu/v1/job_master_service.pb.h"

namespace houtu::master {

/// Owner: the master's shell. Thread: the loop's.
class InputListing {
 public:
  /// How long an agent may take to answer.
  static constexpr absl::Duration kTimeout = absl::Seconds(8);

  using Done = std::function<void(absl::StatusOr<v1::ListInputsResponse>)>;
  /// Sends the request to that node's agent; false: it has no session.
  using Ask = std::function<bool(const std::string& node, const v1::ListFiles& request)>;

  struct NodeAddress {
    std::string node;
    std::string agent_address;
  };

  InputListing(EventLoop* loop, Ask ask) : loop_(loop), ask_(std::move(ask)) {}

  /// `nodes`: those that can be asked. FAILED_PRECONDITION: an input names an unknown node;
  /// UNAVAILABLE: no node can be asked, or one did not answer in time.
  void List(const v1::ListInputsRequest& request, const std::vector<NodeAddress>& nodes, Done done);

  void OnAnswer(const std::string& node, const v1::FilesListed& answer);
  void OnNodeGone(const std::string& node);

 private:
  struct Pending {
    std::set<std::string> waiting_for;
    std::map<std::string, std::string> addresses;
    /// For each node the places in the response of the inputs that it was asked for.
    std::map<std::string, std::vector<int>> places;
    v1::ListInputsResponse response;
    Done done;
    EventLoop::TimerId timer = 0;
  };
  void Finish(int64_t id, const absl::Status& status);

  EventLoop* const loop_;
  const Ask ask_;
  int64_t next_id_ = 1;
  std::map<int64_t, Pending> pending_;
};

}  // namespace houtu::master
