#include "common/rpc/tls_material.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "common/base/status.h"

namespace houtu {
namespace {

absl::StatusOr<std::string> ReadPem(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return ErrnoError(errno == 0 ? ENOENT : errno, "tls: can't read " + path);
  }
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace

absl::StatusOr<TlsMaterial> LoadTls(const v1::Tls& tls) {
  TlsMaterial out;
  HOUTU_ASSIGN_OR_RETURN(out.ca, ReadPem(tls.ca()));
  HOUTU_ASSIGN_OR_RETURN(out.certificate, ReadPem(tls.certificate()));
  HOUTU_ASSIGN_OR_RETURN(out.key, ReadPem(tls.key()));
  struct stat info{};
  if (::stat(tls.key().c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "tls: {} is open to others than its owner; chmod 600 it", tls.key());
  }
  return out;
}

}  // namespace houtu
