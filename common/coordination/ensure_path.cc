#include "common/coordination/ensure_path.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace houtu::coordination {
namespace {

// Creates the prefix of `path` that ends at `end`, then the next longer one.
void EnsureFrom(Coordination* coordination, const std::string& path, size_t end, Done done) {
  const std::string prefix = path.substr(0, end);
  coordination->Create(
      prefix, "", {},
      [coordination, path, end, done = std::move(done)](absl::StatusOr<std::string> created) {
        const bool there = created.ok() || absl::IsAlreadyExists(created.status());
        if (!there || end == path.size()) {
          done(there ? absl::OkStatus() : created.status());
          return;
        }
        EnsureFrom(coordination, path, std::min(path.find('/', end + 1), path.size()), done);
      });
}

}  // namespace

void EnsurePath(Coordination* coordination, const std::string& path, Done done) {
  EnsureFrom(coordination, path, std::min(path.find('/', 1), path.size()), std::move(done));
}

}  // namespace houtu::coordination
