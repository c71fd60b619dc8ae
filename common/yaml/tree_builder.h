// Builds a Node tree from yaml-cpp's events and refuses what strict YAML refuses. Used by
// ParseDocument alone; lives for one document.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "common/yaml/document.h"

namespace houtu::yaml {

class TreeBuilder : public YAML::EventHandler {
 public:
  /// `text` and `problems` must outlive the builder.
  TreeBuilder(std::string_view text, std::vector<Problem>* problems);

  /// The tree; call once, after the last event.
  Node TakeRoot() { return std::move(root_); }

  /// Whether the document holds nothing at all.
  bool IsEmpty() const { return root_.kind == Node::Kind::kNull; }

  /// Whether no limit cut the tree.
  bool complete() const { return complete_; }

  /// The place of yaml-cpp's mark, its column in characters.
  Place PlaceOf(const YAML::Mark& mark) const;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { Leave(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { Leave(); }

 private:
  // A list or mapping that is open.
  struct Frame {
    Node* node = nullptr;  // nullptr: refused or given twice; its contents are checked and dropped
    bool is_mapping = false;
    bool is_key = false;  // stands where a key belongs
    bool in_key = false;  // is_key, or within such a one: told already
    std::string path;
    size_t count = 0;          // items or entries so far
    bool expects_key = false;  // the next event is a key
    bool keep = false;         // the last key's value goes into the tree
    std::string key;           // the last key
    absl::btree_map<std::string, Place> keys;
  };

  bool ExpectsKey() const { return !stack_.empty() && stack_.back().expects_key; }
  std::string NextPath() const;
  void Add(Place place, std::string path, std::string text);
  void CheckProperties(const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor);
  void BeginEntry(Place place, const std::string& key, bool quoted);
  void RefuseKey(Place place, std::string text);
  // Where the value that begins now goes; nullptr: nowhere. The caller sets its kind.
  Node* NextValue(Place place);
  void EndValue();
  void Enter(const YAML::Mark& mark, bool is_mapping);
  void Leave();

  const std::string_view text_;
  std::vector<Problem>* const problems_;
  std::vector<uint32_t> characters_before_;  // by byte
  Node root_;
  std::vector<Frame> stack_;
  int nodes_ = 0;
  bool complete_ = true;
  bool depth_told_ = false;
};

}  // namespace houtu::yaml
