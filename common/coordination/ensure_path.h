// A node with all its parents.
#pragma once

#include <string>

#include "common/coordination/coordination.h"

namespace houtu::coordination {

/// Creates `path` and the parents that it lacks, persistent and empty; OK if it is there already.
/// Safe to repeat after DEADLINE_EXCEEDED.
void EnsurePath(Coordination* coordination, const std::string& path, Done done);

}  // namespace houtu::coordination
