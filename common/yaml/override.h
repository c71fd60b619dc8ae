// --set PATH=VALUE: changes of a document's tree before it is bound to a message, so that they obey
// the same rules as the file.
#pragma once

#include <string_view>
#include <vector>

#include "common/yaml/document.h"

namespace houtu::yaml {

/// Sets the value at PATH, making the mappings and the list item on the way that are missing. The
/// new nodes' place is {0, 0}.
void ApplyOverride(std::string_view assignment, Node* root, std::vector<Problem>* problems);

}  // namespace houtu::yaml
