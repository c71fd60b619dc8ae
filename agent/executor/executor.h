// Executor: the loop of houtu-executor, a container's first process. It starts, limits and reaps
// the container's tasks and keeps their logs. Single thread, poll(2). It holds no connection to
// the outside but for the length of a command, so that the container can be frozen and moved.
#pragma once

#include <poll.h>

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "agent/executor/attempt.h"

namespace houtu::agent {

struct ExecutorOptions {
  /// Holds ctl/ (the socket) and t/ (a folder for each attempt).
  std::string root = "/houtu";
  /// Whether processes of the own pid namespace may command. In a container none may: its tasks
  /// can reach the socket, the agent is the one peer whose pid can't be told in here.
  bool local_peers = false;
};

class Executor {
 public:
  explicit Executor(ExecutorOptions options) : options_(std::move(options)) {}

  /// Makes the socket. Returns 0 or the errno; `what` says which step failed.
  int Open(std::string& what);
  /// Serves for ever.
  [[noreturn]] void Run();

 private:
  /// A connection whose command has not come in whole yet.
  struct Connection {
    int fd;
    std::string received;
  };

  int Listen();
  void Wait();
  void AdvanceClock();
  void Reap();
  void Accept();
  bool PeerMayCommand(int fd) const;
  /// True: the connection is done with here (answered, handed on or broken).
  bool OnConnectionReadable(Connection& connection);
  void Carry(std::string_view message, int fd);
  void Start(MessageReader& message, int fd);
  void Stop(MessageReader& message, int fd);
  void ListAttempts(int fd);
  void DropDone();
  Attempt* Find(std::string_view name);

  ExecutorOptions options_;
  int listen_fd_ = -1;
  int child_fd_ = -1;
  int tasks_fd_ = -1;
  int64_t last_ms_ = 0;
  std::list<Attempt> attempts_;
  std::list<Connection> connections_;
};

}  // namespace houtu::agent
