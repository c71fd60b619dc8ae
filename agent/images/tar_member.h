// One file out of a tar archive, without reading the others.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace houtu::agent {

/// The first regular file with that name ("./" before it or not). It seeks from header to header,
/// so a large archive costs no more than a small one with as many files. NOT_FOUND: no such member.
/// INVALID_ARGUMENT: no tar archive (a compressed one is none), or the file is larger than
/// `bytes_max`.
absl::StatusOr<std::string> ReadTarMember(const std::filesystem::path& archive,
                                          std::string_view name, size_t bytes_max);

}  // namespace houtu::agent
