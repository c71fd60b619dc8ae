#include "agent/images/oci_layout.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "agent/images/tar_member.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

using nlohmann::json;

constexpr char kRefName[] = "org.opencontainers.image.ref.name";
constexpr char kDefaultTag[] = "latest";
constexpr std::string_view kDigestPrefix = "sha256:";
constexpr size_t kDigestDigits = 64;
#if defined(__x86_64__)
constexpr char kArchitecture[] = "amd64";
#elif defined(__aarch64__)
constexpr char kArchitecture[] = "arm64";
#endif

/// Reads a member of an object whatever the object is.
std::string Text(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

json Member(const json& object, const char* key) {
  return object.is_object() ? object.value(key, json()) : json();
}

/// The digest's digits; nullopt: none that we take as a file's name.
std::optional<std::string> Digits(const json& descriptor) {
  const std::string digest = Text(descriptor, "digest");
  if (!digest.starts_with(kDigestPrefix)) return std::nullopt;
  const std::string digits = digest.substr(kDigestPrefix.size());
  const bool hex = std::all_of(digits.begin(), digits.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  return hex && digits.size() == kDigestDigits ? std::optional(digits) : std::nullopt;
}

bool IsForThisMachine(const json& descriptor) {
  const json platform = Member(descriptor, "platform");
  return Text(platform, "architecture") == kArchitecture && Text(platform, "os") == "linux";
}

absl::Status Broken(const std::filesystem::path& path, std::string_view why) {
  return Error(absl::StatusCode::kInvalidArgument, "{}: broken OCI image: {}", path.native(), why);
}

absl::StatusOr<json> ReadJson(const OciLayout& layout, const std::string& name) {
  const absl::StatusOr<std::string> text = layout.Read(name);
  if (absl::IsNotFound(text.status())) return Broken(layout.path(), "no " + name);
  if (!text.ok()) return text.status();
  json value = json::parse(*text, nullptr, false);
  if (!value.is_object()) return Broken(layout.path(), name + " is no JSON object");
  return value;
}

/// The descriptor with the tag; without a tag the only one, or "latest".
absl::StatusOr<json> Choose(const OciLayout& layout, const json& index, const std::string& tag) {
  const json manifests = Member(index, "manifests");
  if (!manifests.is_array()) return Broken(layout.path(), "index.json lists no manifests");
  if (tag.empty() && manifests.size() == 1) return manifests[0];
  const std::string wanted = tag.empty() ? kDefaultTag : tag;
  std::vector<json> found;
  for (const json& descriptor : manifests) {
    if (Text(Member(descriptor, "annotations"), kRefName) == wanted) found.push_back(descriptor);
  }
  if (found.empty()) {
    return Error(absl::StatusCode::kNotFound, "{}: no tag \"{}\"", layout.path().native(), wanted);
  }
  const auto own = std::find_if(found.begin(), found.end(), IsForThisMachine);
  return own != found.end() ? *own : found.front();
}

absl::StatusOr<json> ReadBlob(const OciLayout& layout, const json& descriptor) {
  const std::optional<std::string> digits = Digits(descriptor);
  if (!digits) return Broken(layout.path(), "a digest that is no sha256");
  return ReadJson(layout, "blobs/sha256/" + *digits);
}

absl::StatusOr<OciImage> ImageOf(const OciLayout& layout, const json& descriptor,
                                 const json& manifest) {
  OciImage image{.digest = *Digits(descriptor), .descriptor = descriptor.dump()};
  const json layers = Member(manifest, "layers");
  if (!layers.is_array() || layers.size() > kOciLayersMax) {
    return Broken(layout.path(), fmt::format("a manifest has 0 to {} layers", kOciLayersMax));
  }
  for (const json& layer : layers) {
    const json size = Member(layer, "size");
    if (!size.is_number_integer() || size.get<int64_t>() < 0 ||
        size.get<int64_t>() > INT64_MAX / kOciLayersMax) {
      return Broken(layout.path(), "a layer without a size");
    }
    image.layer_bytes += size.get<int64_t>();
  }
  return image;
}

}  // namespace

absl::StatusOr<OciImage> OciLayout::Find(const std::string& tag) const {
  HOUTU_ASSIGN_OR_RETURN(const json index, ReadJson(*this, "index.json"));
  HOUTU_ASSIGN_OR_RETURN(json descriptor, Choose(*this, index, tag));
  for (int depth = 0; depth < kOciIndexDepthMax; ++depth) {
    HOUTU_ASSIGN_OR_RETURN(const json blob, ReadBlob(*this, descriptor));
    const json manifests = Member(blob, "manifests");
    if (!manifests.is_array()) return ImageOf(*this, descriptor, blob);
    const auto own = std::find_if(manifests.begin(), manifests.end(), IsForThisMachine);
    if (own == manifests.end()) {
      return Error(absl::StatusCode::kInvalidArgument, "{}: has no image for linux/{}",
                   path_.native(), kArchitecture);
    }
    descriptor = *own;
  }
  return Broken(path_, fmt::format("indexes more than {} deep", kOciIndexDepthMax));
}

absl::StatusOr<std::string> OciLayout::Read(const std::string& name) const {
  if (is_archive_) return ReadTarMember(path_, name, kOciJsonBytesMax);
  const std::filesystem::path file = path_ / name;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    return Error(absl::StatusCode::kNotFound, "{}: no such file", file.native());
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(kOciJsonBytesMax + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() <= kOciJsonBytesMax) return text;
  return Error(absl::StatusCode::kInvalidArgument, "{}: larger than {} bytes", file.native(),
               kOciJsonBytesMax);
}

}  // namespace houtu::agent
