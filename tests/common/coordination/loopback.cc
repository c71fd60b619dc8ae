#include "tests/common/coordination/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/status.h"

namespace houtu::testing {
namespace {

constexpr int kBacklog = 16;

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

absl::StatusOr<int> ListenLoopback(int* port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return ErrnoError(errno, "socket");
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd, generic, size) != 0 || listen(fd, kBacklog) != 0 ||
      getsockname(fd, generic, &size) != 0) {
    const absl::Status status = ErrnoError(errno, "listen on 127.0.0.1");
    close(fd);
    return status;
  }
  *port = ntohs(address.sin_port);
  return fd;
}

absl::StatusOr<int> FreeLoopbackPort() {
  int port = 0;
  HOUTU_ASSIGN_OR_RETURN(const int fd, ListenLoopback(&port));
  close(fd);
  return port;
}

int ConnectLoopback(int port, absl::Duration timeout) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const timeval limit = absl::ToTimeval(timeout);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  const sockaddr_in address = Loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace houtu::testing
