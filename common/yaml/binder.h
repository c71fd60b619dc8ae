// Binds a document's tree to a message by reflection. One binder a document.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/yaml/document.h"
#include "common/yaml/problem.h"
#include "common/yaml/source_map.h"

namespace houtu::yaml {

class Binder {
 public:
  /// `places` may be nullptr; all must outlive the binder.
  Binder(std::vector<Problem>* problems, SourceMap* places)
      : problems_(problems), places_(places) {}

  /// Sets the fields that the mapping `node` names, at `path`. Adds a problem for each key or value
  /// that does not fit and for each required key that is missing.
  void BindMessage(const Node& node, const std::string& path, google::protobuf::Message* out);

 private:
  using Field = google::protobuf::FieldDescriptor;

  void BindEntry(const Entry& entry, const std::string& path, google::protobuf::Message* out);
  void BindField(const Node& node, const std::string& path, const Field& field,
                 google::protobuf::Message* out);
  void BindList(const Node& node, const std::string& path, const Field& field,
                google::protobuf::Message* out);
  void BindMap(const Node& node, const std::string& path, const Field& field,
               google::protobuf::Message* out);
  // One value of `field`: its own, or appended where the field is repeated.
  void BindOne(const Node& node, const std::string& path, const Field& field,
               google::protobuf::Message* out);
  void BindSubmessage(const Node& node, const std::string& path, const Field& field,
                      google::protobuf::Message* out);
  void CheckRequired(const Node& node, const std::string& path,
                     const google::protobuf::Message& message);
  bool CheckKind(const Node& node, Node::Kind kind, const std::string& path, const Field& field);

  void Add(Place place, const std::string& path, std::string text);
  void Note(const std::string& path, Place place);

  std::vector<Problem>* const problems_;
  SourceMap* const places_;
};

}  // namespace houtu::yaml
