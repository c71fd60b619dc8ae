// Which unpacked images go when there are many.
#pragma once

#include <filesystem>

#include "absl/status/status.h"

namespace houtu::agent {

/// Deletes those used longest ago (by their folders' time) until `images_max` are left, but none
/// that is a layer of something mounted. No image may be handed out meanwhile. As ErrnoError says.
absl::Status RemoveUnusedImages(const std::filesystem::path& images_dir, int images_max);

/// Notes a use.
void NoteImageUse(const std::filesystem::path& image);

}  // namespace houtu::agent
