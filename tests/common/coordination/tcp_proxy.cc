#include "tests/common/coordination/tcp_proxy.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/status.h"
#include "tests/common/coordination/loopback.h"

namespace houtu::testing {
namespace {

constexpr absl::Duration kSocketTimeout = absl::Seconds(5);
constexpr size_t kBufferBytes = 64 * 1024;

// Small answers must not wait for the acknowledgement of earlier ones.
void SendAtOnce(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool SendAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TcpProxy>> TcpProxy::Start(int target_port) {
  int wake[2];
  if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) return ErrnoError(errno, "pipe");
  int port = 0;
  HOUTU_ASSIGN_OR_RETURN(const int listener, ListenLoopback(&port));
  return std::unique_ptr<TcpProxy>(new TcpProxy(listener, port, target_port, wake[0], wake[1]));
}

TcpProxy::TcpProxy(int listener, int port, int target_port, int wake_reader, int wake_writer)
    : listener_(listener),
      port_(port),
      target_port_(target_port),
      wake_reader_(wake_reader),
      wake_writer_(wake_writer),
      thread_([this] { Run(); }) {}

TcpProxy::~TcpProxy() {
  stopping_ = true;
  Wake();
  thread_.join();
  CloseAll();
  for (const int fd : {listener_, wake_reader_, wake_writer_}) close(fd);
}

void TcpProxy::Set(Mode mode) {
  mode_ = mode;
  Wake();
}

void TcpProxy::Cut() {
  all_closed_ = false;
  Set(Mode::kCut);
  all_closed_.wait(false);
}

void TcpProxy::Wake() {
  // A full pipe wakes the thread too.
  [[maybe_unused]] const ssize_t written = write(wake_writer_, "w", 1);
}

void TcpProxy::Run() {
  while (!stopping_) {
    if (mode_ == Mode::kCut) {
      CloseAll();
      all_closed_ = true;
      all_closed_.notify_all();
    }
    std::vector<pollfd> fds = {{wake_reader_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Connection& connection : connections_) {
      fds.push_back({connection.client, POLLIN, 0});
      fds.push_back({connection.target, POLLIN, 0});
    }
    if (poll(fds.data(), fds.size(), -1) > 0) Step(fds);
  }
}

void TcpProxy::Step(const std::vector<pollfd>& ready) {
  char drained[64];
  while (read(wake_reader_, drained, sizeof(drained)) > 0) {
  }
  const bool drop = mode_ != Mode::kForward;
  std::vector<Connection> kept;
  for (size_t i = 0; i < connections_.size(); ++i) {
    const auto [client, target] = connections_[i];
    const bool ok = (ready[2 + 2 * i].revents == 0 || Forward(client, target, false)) &&
                    (ready[3 + 2 * i].revents == 0 || Forward(target, client, drop));
    if (ok) {
      kept.push_back(connections_[i]);
    } else {
      close(client);
      close(target);
    }
  }
  connections_ = std::move(kept);
  if (ready[1].revents != 0) Accept();
}

void TcpProxy::Accept() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int target = mode_ == Mode::kCut ? -1 : ConnectLoopback(target_port_, kSocketTimeout);
  if (target < 0) {
    close(client);
    return;
  }
  SendAtOnce(client);
  SendAtOnce(target);
  connections_.push_back({client, target});
}

bool TcpProxy::Forward(int from, int to, bool drop) {
  char buffer[kBufferBytes];
  const ssize_t size = recv(from, buffer, sizeof(buffer), 0);
  if (size <= 0) return false;
  return drop || SendAll(to, buffer, static_cast<size_t>(size));
}

void TcpProxy::CloseAll() {
  for (const auto [client, target] : connections_) {
    close(client);
    close(target);
  }
  connections_.clear();
}

}  // namespace houtu::testing
