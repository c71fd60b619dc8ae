#include "master/service/input_listing.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_join.h"
#include "common/base/status.h"

namespace houtu::master {

void InputListing::List(const v1::ListInputsRequest& request, const std::vector<NodeAddress>& nodes,
                        Done done) {
  if (nodes.empty()) {
    done(Error(absl::StatusCode::kUnavailable, "no node can be asked for files just now"));
    return;
  }
  const int64_t id = next_id_++;
  Pending& pending = pending_[id];
  pending.done = std::move(done);
  std::map<std::string, v1::ListFiles> questions;
  for (int i = 0; i < request.inputs_size(); ++i) {
    const v1::Input& input = request.inputs(i);
    pending.response.add_inputs();
    for (const NodeAddress& node : nodes) {
      if (input.node().empty() || input.node() == node.node) {
        *questions[node.node].add_inputs() = input;
        pending.places[node.node].push_back(i);
        pending.addresses[node.node] = node.agent_address;
      }
    }
    const auto named = [&](const NodeAddress& node) { return node.node == input.node(); };
    if (!input.node().empty() && std::none_of(nodes.begin(), nodes.end(), named)) {
      Finish(id, Error(absl::StatusCode::kUnavailable, "node {}, which holds {}, can't be asked",
                       input.node(), input.path()));
      return;
    }
  }
  for (auto& [node, question] : questions) {
    question.set_request_id(id);
    if (ask_(node, question)) {
      pending.waiting_for.insert(node);
    }
  }
  pending.timer = loop_->PostAfter(kTimeout, [this, id] {
    Finish(id,
           Error(absl::StatusCode::kUnavailable, "{} did not list its files within {}",
                 absl::StrJoin(pending_.at(id).waiting_for, ", "), absl::FormatDuration(kTimeout)));
  });
  if (pending.waiting_for.empty()) {
    Finish(id, absl::OkStatus());
  }
}

void InputListing::OnAnswer(const std::string& node, const v1::FilesListed& answer) {
  const auto it = pending_.find(answer.request_id());
  if (it == pending_.end() || it->second.waiting_for.erase(node) == 0) {
    return;
  }
  if (!answer.error().empty()) {
    Finish(it->first, Error(absl::StatusCode::kFailedPrecondition, "{}: {}", node, answer.error()));
    return;
  }
  const std::vector<int>& places = it->second.places[node];
  for (int i = 0; i < std::min<int>(answer.inputs_size(), static_cast<int>(places.size())); ++i) {
    for (const v1::InputFile& file : answer.inputs(i).files()) {
      v1::InputFile* out =
          it->second.response.mutable_inputs(places[static_cast<size_t>(i)])->add_files();
      *out = file;
      out->set_node(node);
      out->set_agent_address(it->second.addresses[node]);
    }
  }
  if (it->second.waiting_for.empty()) {
    Finish(it->first, absl::OkStatus());
  }
}

void InputListing::OnNodeGone(const std::string& node) {
  std::vector<int64_t> hit;
  for (const auto& [id, pending] : pending_) {
    if (pending.waiting_for.contains(node)) {
      hit.push_back(id);
    }
  }
  for (const int64_t id : hit) {
    Finish(id, Error(absl::StatusCode::kUnavailable, "node {} went away", node));
  }
}

void InputListing::Finish(int64_t id, const absl::Status& status) {
  Pending pending = std::move(pending_.at(id));
  pending_.erase(id);
  loop_->Cancel(pending.timer);
  if (!status.ok()) {
    pending.done(status);
    return;
  }
  for (v1::InputFiles& files : *pending.response.mutable_inputs()) {
    std::sort(files.mutable_files()->begin(), files.mutable_files()->end(),
              [](const v1::InputFile& a, const v1::InputFile& b) {
                return std::tie(a.path(), a.node()) < std::tie(b.path(), b.node());
              });
  }
  pending.done(std::move(pending.response));
}

}  // namespace houtu::master
