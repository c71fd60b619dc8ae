// A TCP proxy that a test can cut.
#pragma once

#include <poll.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"

namespace houtu::testing {

/// Forwards connections from a free port of 127.0.0.1 to another port there, on a thread of its
/// own. Owner: a test. Thread-safe.
class TcpProxy {
 public:
  static absl::StatusOr<std::unique_ptr<TcpProxy>> Start(int target_port);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  int port() const { return port_; }

  /// Closes every connection before it returns, and each new one at once, until Heal.
  void Cut();
  /// What the target answers is thrown away until Heal or Cut: requests arrive, answers do not.
  /// After a Heal without a Cut the connections go on, with bytes missing.
  void DropAnswers() { Set(Mode::kDropAnswers); }
  void Heal() { Set(Mode::kForward); }

 private:
  enum class Mode { kForward, kDropAnswers, kCut };
  struct Connection {
    int client = -1;
    int target = -1;
  };

  TcpProxy(int listener, int port, int target_port, int wake_reader, int wake_writer);

  void Set(Mode mode);
  void Wake();
  void Run();
  void Step(const std::vector<pollfd>& ready);
  void Accept();
  bool Forward(int from, int to, bool drop);
  void CloseAll();

  const int listener_;
  const int port_;
  const int target_port_;
  const int wake_reader_;
  const int wake_writer_;
  std::atomic<Mode> mode_ = Mode::kForward;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> all_closed_ = false;  // since the last Cut
  std::vector<Connection> connections_;   // of the thread
  std::thread thread_;
};

}  // namespace houtu::testing
