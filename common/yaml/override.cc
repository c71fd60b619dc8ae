#include "common/yaml/override.h"

#include <fmt/format.h>

#include "common/base/status.h"
#include "common/yaml/loader.h"
#include "common/yaml/path.h"
#include "common/yaml/text_check.h"

namespace houtu::yaml {
namespace {

void ForgetPlaces(Node* node) {
  node->place = {};
  for (Node& item : node->items) {
    ForgetPlaces(&item);
  }
  for (Entry& entry : node->entries) {
    entry.place = {};
    ForgetPlaces(&entry.value);
  }
}

// VALUE as a node: YAML where it starts as YAML of more than a plain word does, else literal.
Node ParseValue(std::string_view value, std::vector<Problem>* problems) {
  Node node;
  if (value.empty() || std::string_view("[{\"'").find(value.front()) == std::string_view::npos) {
    node.kind = Node::Kind::kScalar;
    node.quoted = value.empty();
    node.text = std::string(value);
    return node;
  }
  const std::string text = CheckText(value, problems);
  bool complete = true;
  if (problems->empty()) {
    node = ParseDocument(text, problems, &complete);
  }
  ForgetPlaces(&node);
  return node;
}

absl::StatusOr<Node*> StepInto(Node* node, const PathStep& step, std::string_view assignment) {
  if (const auto* key = std::get_if<std::string>(&step)) {
    if (node->kind == Node::Kind::kNull || node->kind == Node::Kind::kRefused) {
      node->kind = Node::Kind::kMapping;
    }
    if (node->kind != Node::Kind::kMapping) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "--set {}: what holds {} is no mapping; write the path to a mapping's key",
                   Quote(assignment), Quote(*key));
    }
    if (Node* found = node->Find(*key); found != nullptr) {
      return found;
    }
    node->entries.push_back({.key = *key, .place = {}, .value = {}});
    return &node->entries.back().value;
  }
  const size_t index = std::get<size_t>(step);
  if (node->kind == Node::Kind::kNull) {
    node->kind = Node::Kind::kList;
  }
  if (node->kind != Node::Kind::kList || index > node->items.size()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "--set {}: there is no [{}]: the list has {} items; write [0] to [{}]",
                 Quote(assignment), index, node->items.size(), node->items.size());
  }
  if (index == node->items.size()) {
    node->items.emplace_back();
  }
  return &node->items[index];
}

absl::Status Apply(std::string_view assignment, Node* root) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "--set {} has no \"=\"; write it as stages[1].tasks=8", Quote(assignment));
  }
  auto steps = ParsePath(assignment.substr(0, equals));
  HOUTU_RETURN_IF_ERROR(Annotate(steps.status(), "--set"));
  if (steps->size() > kDepthMax) {
    return Error(absl::StatusCode::kInvalidArgument, "--set {}: more than {} levels, the limit",
                 Quote(assignment), kDepthMax);
  }
  if (!IsUtf8(assignment)) {
    return Error(absl::StatusCode::kInvalidArgument, "--set {} is not UTF-8; write it as UTF-8",
                 Quote(assignment));
  }
  std::vector<Problem> problems;
  Node value = ParseValue(assignment.substr(equals + 1), &problems);
  if (!problems.empty()) {
    return Error(absl::StatusCode::kInvalidArgument, "--set {}: {}", Quote(assignment),
                 problems.back().text);
  }
  Node* node = root;
  for (const PathStep& step : *steps) {
    HOUTU_ASSIGN_OR_RETURN(node, StepInto(node, step, assignment));
  }
  *node = std::move(value);
  return absl::OkStatus();
}

}  // namespace

void ApplyOverride(std::string_view assignment, Node* root, std::vector<Problem>* problems) {
  const absl::Status status = Apply(assignment, root);
  if (!status.ok()) {
    problems->push_back({.text = Message(status)});
  }
}

}  // namespace houtu::yaml
