#include "common/yaml/tree_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/yaml/loader.h"
#include "common/yaml/path.h"
#include "common/yaml/text_check.h"

namespace houtu::yaml {

TreeBuilder::TreeBuilder(std::string_view text, std::vector<Problem>* problems)
    : text_(text), problems_(problems) {
  characters_before_.reserve(text.size() + 1);
  uint32_t characters = 0;
  for (const char c : text) {
    characters_before_.push_back(characters);
    characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  }
  characters_before_.push_back(characters);
}

Place TreeBuilder::PlaceOf(const YAML::Mark& mark) const {
  const size_t last = characters_before_.size() - 1;
  const size_t at = std::min(static_cast<size_t>(std::max(mark.pos, 0)), last);
  const size_t line_start = at - std::min(at, static_cast<size_t>(std::max(mark.column, 0)));
  return {.line = mark.line + 1,
          .column = static_cast<int>(characters_before_[at] - characters_before_[line_start]) + 1};
}

std::string TreeBuilder::NextPath() const {
  if (stack_.empty()) {
    return "";
  }
  const Frame& frame = stack_.back();
  if (frame.is_key) {
    return frame.path;
  }
  return frame.is_mapping ? KeyPath(frame.path, frame.key) : IndexPath(frame.path, frame.count);
}

void TreeBuilder::Add(Place place, std::string path, std::string text) {
  problems_->push_back({.line = place.line,
                        .column = place.column,
                        .path = std::move(path),
                        .text = std::move(text)});
}

void TreeBuilder::CheckProperties(const YAML::Mark& mark, std::string_view tag,
                                  YAML::anchor_t anchor) {
  const std::string path = ExpectsKey() ? stack_.back().path : NextPath();
  if (anchor != YAML::NullAnchor) {
    Add(PlaceOf(mark), path, "anchors (&) are not supported; write each value out");
  }
  // yaml-cpp tells of a quoted scalar by the tag "!", which may also be written out.
  const auto at = static_cast<size_t>(std::max(mark.pos, 0));
  const bool written = at < text_.size() && text_[at] == '!';
  if (written || (tag != "?" && tag != "!" && !tag.empty())) {
    Add(PlaceOf(mark), path, "tags (!) are not supported; remove it: the key decides the type");
  }
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  CheckProperties(mark, "?", anchor);
  if (ExpectsKey()) {
    RefuseKey(PlaceOf(mark), "a key is missing here; write KEY: VALUE");
    return;
  }
  if (Node* node = NextValue(PlaceOf(mark)); node != nullptr) {
    node->kind = Node::Kind::kNull;
  }
  EndValue();
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t) {
  constexpr const char* kText = "aliases (*) are not supported; write the value out";
  if (ExpectsKey()) {
    RefuseKey(PlaceOf(mark), kText);
    return;
  }
  Add(PlaceOf(mark), NextPath(), kText);
  NextValue(PlaceOf(mark));
  EndValue();
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  CheckProperties(mark, tag, anchor);
  const Place place = PlaceOf(mark);
  const bool utf8 = IsUtf8(value);
  if (ExpectsKey()) {
    if (utf8) {
      BeginEntry(place, value, tag == "!");
    } else {
      RefuseKey(place, "an escape makes this no UTF-8; write the character itself");
    }
    return;
  }
  if (!utf8) {
    Add(place, NextPath(), "an escape makes this no UTF-8; write the character itself");
  }
  if (Node* node = NextValue(place); node != nullptr && utf8) {
    node->kind = Node::Kind::kScalar;
    node->quoted = tag == "!";
    node->text = value;
  }
  EndValue();
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value) {
  CheckProperties(mark, tag, anchor);
  Enter(mark, /*is_mapping=*/false);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value) {
  CheckProperties(mark, tag, anchor);
  Enter(mark, /*is_mapping=*/true);
}

void TreeBuilder::BeginEntry(Place place, const std::string& key, bool quoted) {
  Frame& frame = stack_.back();
  if (key == "<<" && !quoted) {
    RefuseKey(place, "merge keys (<<) are not supported; write the keys out");
    return;
  }
  frame.expects_key = false;
  frame.key = key;
  const auto [first, is_new] = frame.keys.emplace(key, place);
  if (!is_new) {
    Add(place, NextPath(),
        fmt::format("given twice, on lines {} and {}; keep one of them", first->second.line,
                    place.line));
  }
  frame.keep = is_new && frame.node != nullptr && complete_;
  if (frame.keep) {
    frame.node->entries.push_back({.key = key, .place = place, .value = {}});
    frame.node->entries.back().value.kind = Node::Kind::kRefused;
  }
}

void TreeBuilder::RefuseKey(Place place, std::string text) {
  Frame& frame = stack_.back();
  if (!frame.in_key) {
    Add(place, frame.path, std::move(text));
  }
  frame.expects_key = false;
  frame.keep = false;
  frame.key.clear();
}

Node* TreeBuilder::NextValue(Place place) {
  if (++nodes_ > kNodesMax && complete_) {
    complete_ = false;
    Add(place, NextPath(),
        fmt::format("more than {} values in one file, the limit; move lists into files that the "
                    "tasks read",
                    kNodesMax));
  }
  Node* node = nullptr;
  if (stack_.empty()) {
    node = &root_;
  } else if (Frame& frame = stack_.back(); frame.is_mapping) {
    node = frame.keep ? &frame.node->entries.back().value : nullptr;
  } else if (frame.node != nullptr && complete_) {
    node = &frame.node->items.emplace_back();
  }
  if (!complete_ || node == nullptr) {
    return nullptr;
  }
  node->kind = Node::Kind::kRefused;
  node->place = place;
  return node;
}

void TreeBuilder::EndValue() {
  if (stack_.empty()) {
    return;
  }
  Frame& frame = stack_.back();
  frame.expects_key = frame.is_mapping;
  ++frame.count;
}

void TreeBuilder::Enter(const YAML::Mark& mark, bool is_mapping) {
  const Place place = PlaceOf(mark);
  Frame frame{.is_mapping = is_mapping, .expects_key = is_mapping};
  frame.is_key = ExpectsKey();
  frame.in_key = frame.is_key || (!stack_.empty() && stack_.back().in_key);
  const bool too_deep = stack_.size() >= static_cast<size_t>(kDepthMax);
  if (too_deep && !depth_told_) {
    depth_told_ = true;
    Add(place, "", fmt::format("nested deeper than {} levels, the limit; flatten it", kDepthMax));
  }
  if (frame.is_key) {
    RefuseKey(place, "a key must be text, not a list or a mapping; quote it");
  } else if (Node* node = NextValue(place); node != nullptr && !too_deep) {
    node->kind = is_mapping ? Node::Kind::kMapping : Node::Kind::kList;
    frame.node = node;
  }
  if (!too_deep) {
    frame.path = NextPath();
  }
  stack_.push_back(std::move(frame));
}

void TreeBuilder::Leave() {
  const bool was_key = stack_.back().is_key;
  stack_.pop_back();
  if (!was_key) {
    EndValue();
  }
}

}  // namespace houtu::yaml
