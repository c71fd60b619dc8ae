#include "agent/partitions/manifest.h"

#include <fcntl.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <sys/stat.h>

#include <cerrno>
#include <sstream>

#include "agent/partitions/files.h"
#include "common/base/status.h"

namespace houtu::agent {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

absl::Status WriteManifest(const fs::path& folder, const std::vector<v1::FileHeader>& files) {
  std::ostringstream bytes;
  for (const v1::FileHeader& file : files) {
    pb::util::SerializeDelimitedToOstream(file, &bytes);
  }
  HOUTU_ASSIGN_OR_RETURN(const Fd fd, CreateFile(folder / kManifestName));
  return Annotate(WriteAll(fd.get(), bytes.str()), folder.native());
}

absl::StatusOr<std::vector<v1::FileHeader>> ReadManifest(const fs::path& folder) {
  const fs::path path = folder / kManifestName;
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) {
    const int error_number = errno;
    struct stat st;
    if (error_number == ENOENT && lstat(folder.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) {
      return std::vector<v1::FileHeader>();
    }
    return ErrnoError(error_number, path.native());
  }
  pb::io::FileInputStream stream(fd.get());
  std::vector<v1::FileHeader> files;
  while (true) {
    bool clean_end = false;
    v1::FileHeader file;
    if (pb::util::ParseDelimitedFromZeroCopyStream(&file, &stream, &clean_end)) {
      files.push_back(std::move(file));
    } else if (clean_end && !files.empty()) {
      return files;
    } else {
      return Error(absl::StatusCode::kDataLoss,
                   "{}: not a manifest; the disk lost what was written", path.native());
    }
  }
}

}  // namespace houtu::agent
