// Unpacking one image of a layout into a folder, by umoci.
#pragma once

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/images/oci_layout.h"

namespace houtu::agent {

/// Makes <folder>/rootfs from the image, all its files readable by whoever runs it. `folder` exists
/// and is empty. INVALID_ARGUMENT: the image's fault, with umoci's first error line.
/// FAILED_PRECONDITION: not done within `limit`. RESOURCE_EXHAUSTED: the disk is full. INTERNAL: no
/// umoci or tar.
absl::Status Unpack(const OciLayout& layout, const OciImage& image, const std::string& umoci,
                    absl::Duration limit, const std::filesystem::path& folder);

}  // namespace houtu::agent
