#include "client/command/session.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/yaml/loader.h"

namespace houtu::client {
namespace {

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Paths of the TLS files are relative to the configuration's folder.
void MakeAbsolute(const fs::path& folder, std::string* path) { *path = (folder / *path).string(); }

/// Whatever is wrong with the user's own files is bad usage: nothing was sent.
absl::Status AsUsage(const absl::Status& status) {
  return absl::InvalidArgumentError(Message(status));
}

}  // namespace

absl::StatusOr<std::string> FindConfig(const std::string& given) {
  if (!given.empty()) {
    return given;
  }
  if (std::string named = Environment("HOUTU_CONFIG"); !named.empty()) {
    return named;
  }
  std::vector<std::string> places;
  if (const std::string home = Environment("HOME"); !home.empty()) {
    places.push_back(home + "/.config/houtu/config.yaml");
  }
  places.push_back("/etc/houtu/client.yaml");
  for (const std::string& place : places) {
    std::error_code ignored;
    if (fs::exists(place, ignored)) {
      return place;
    }
  }
  return Error(absl::StatusCode::kInvalidArgument,
               "no configuration: give --config FILE, set HOUTU_CONFIG, or write {}",
               fmt::join(places, " or "));
}

std::unique_ptr<Session> Session::Open(const Console& console, const ConnectOptions& options,
                                       Interrupt* interrupt) {
  const absl::StatusOr<std::string> file = FindConfig(options.config);
  if (!file.ok()) {
    console.Fail(file.status());
    return nullptr;
  }
  v1::ClientConfig config;
  std::vector<yaml::Problem> problems = yaml::LoadYamlFile(*file, &config);
  if (problems.empty() && config.masters().empty()) {
    problems.push_back({.path = "masters", .text = "names no master; write host:port of one"});
  }
  if (!problems.empty()) {
    console.FailProblems(*file, problems);
    return nullptr;
  }
  const fs::path folder = fs::path(*file).parent_path();
  MakeAbsolute(folder, config.mutable_tls()->mutable_ca());
  MakeAbsolute(folder, config.mutable_tls()->mutable_certificate());
  MakeAbsolute(folder, config.mutable_tls()->mutable_key());
  const absl::StatusOr<TlsMaterial> tls = LoadTls(config.tls());
  if (!tls.ok()) {
    console.Fail(AsUsage(Annotate(tls.status(), *file)));
    return nullptr;
  }
  Masters::Options masters{.addresses = {config.masters().begin(), config.masters().end()},
                           .connect_timeout = options.timeout};
  masters.watch_patience = std::max(masters.watch_patience, options.timeout);
  return std::unique_ptr<Session>(new Session(*tls, std::move(masters), interrupt));
}

Session::Session(const TlsMaterial& tls, Masters::Options options, Interrupt* interrupt)
    : interrupt_(interrupt),
      channels_(tls),
      masters_(std::move(options), &channels_, interrupt),
      agents_(&channels_, interrupt) {}

}  // namespace houtu::client
