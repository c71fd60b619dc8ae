// TlsMaterial: the PEM texts that a process shows and trusts.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "houtu/v1/config.pb.h"

namespace houtu {

struct TlsMaterial {
  std::string ca;
  std::string certificate;
  std::string key;
};

/// Reads the three files. NOT_FOUND, PERMISSION_DENIED with the file's name; FAILED_PRECONDITION:
/// the key can be read by others than its owner.
absl::StatusOr<TlsMaterial> LoadTls(const v1::Tls& tls);

}  // namespace houtu
