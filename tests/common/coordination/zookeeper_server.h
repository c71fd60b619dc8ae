// A real ZooKeeper server for a test, from Debian's package.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace houtu::testing {

/// One standalone server on a free port of 127.0.0.1, with a folder of its own under the system's
/// temporary folder. Owner: a test. Its end kills the server and removes the folder; so
/// does, for the server, the end of the thread that started it.
/// Not thread-safe.
class ZookeeperServer {
 public:
  struct Options {
    /// Sessions last a whole number of ticks.
    absl::Duration tick = absl::Milliseconds(100);
    /// How long to wait until it answers.
    absl::Duration start_timeout = absl::Seconds(30);
  };

  /// Why a server can't be started here: java or a jar of the package `zookeeper` is missing;
  /// empty if it can. For GTEST_SKIP.
  static std::string WhyNotHere();

  /// Starts a server and waits until it answers.
  static absl::StatusOr<std::unique_ptr<ZookeeperServer>> Start(const Options& options);
  static absl::StatusOr<std::unique_ptr<ZookeeperServer>> Start() { return Start(Options()); }
  ~ZookeeperServer();
  ZookeeperServer(const ZookeeperServer&) = delete;
  ZookeeperServer& operator=(const ZookeeperServer&) = delete;

  int port() const { return port_; }
  /// "127.0.0.1:<port>".
  std::string address() const;

  /// SIGKILL; the data stay.
  void Kill();
  /// After Kill: on the same port, with the same data and sessions; waits until it answers.
  absl::Status Restart();
  /// SIGSTOP and SIGCONT: a server that does not answer, but keeps its connections.
  void Pause();
  void Resume();

 private:
  ZookeeperServer(const Options& options, std::string folder, int port);

  absl::Status WriteConfig() const;
  absl::Status Spawn();
  absl::Status AwaitAnswer();
  std::string LogTail() const;

  const Options options_;
  const std::string folder_;
  const int port_;
  pid_t pid_ = 0;
};

/// Ends a session as if its time had passed: takes it over by its id and password and closes it.
/// `servers`: as in ZookeeperCoordination::Options. The session's own client must be cut off
/// meanwhile, or it takes the session back. DEADLINE_EXCEEDED: not done within 10 s.
absl::Status ExpireZookeeperSession(const std::string& servers, int64_t session_id,
                                    const std::string& password);

}  // namespace houtu::testing
