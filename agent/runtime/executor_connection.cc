#include "agent/runtime/executor_connection.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "agent/executor/protocol.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

absl::Status ConnectionError(int error_number, std::string_view what) {
  const auto code =
      error_number == EAGAIN ? absl::StatusCode::kDeadlineExceeded : absl::StatusCode::kUnavailable;
  return Error(code, "executor: {}: {}", what,
               error_number == EAGAIN ? "no answer within its limit" : std::strerror(error_number));
}

/// A socket's address holds 107 characters and a work folder may have more: the folder is named by
/// a descriptor of ours.
absl::Status ConnectBelow(int fd, const std::filesystem::path& ctl) {
  const int folder = open(ctl.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return ConnectionError(errno, ctl.native());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof(address.sun_path) - 1, "/proc/self/fd/{}/{}", folder,
                   kExecutorSocketName);
  const int result = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  const int error_number = errno;
  close(folder);
  return result == 0 ? absl::OkStatus() : ConnectionError(error_number, ctl.native());
}

absl::Status CheckPeer(int fd, pid_t executor_pid) {
  ucred peer;
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return ConnectionError(errno, "peer");
  }
  if (executor_pid == 0 || peer.pid == executor_pid) return absl::OkStatus();
  return Error(absl::StatusCode::kUnavailable,
               "executor: its socket was replaced by process {} of the container", peer.pid);
}

}  // namespace

ExecutorConnection::~ExecutorConnection() {
  if (fd_ >= 0) close(fd_);
}

absl::Status ExecutorConnection::Open(const std::filesystem::path& ctl, pid_t executor_pid,
                                      absl::Duration limit) {
  fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return ErrnoError(errno, "socket");
  const timeval time_limit = absl::ToTimeval(limit);
  const int on = 1;
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &time_limit, sizeof(time_limit));
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &time_limit, sizeof(time_limit));
  // The kernel then tells each message's sender, its pid translated to our pid namespace.
  setsockopt(fd_, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
  HOUTU_RETURN_IF_ERROR(ConnectBelow(fd_, ctl));
  return CheckPeer(fd_, executor_pid);
}

absl::Status ExecutorConnection::Send(const std::string& message) {
  size_t sent = 0;
  while (sent < message.size()) {
    const ssize_t n = send(fd_, message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) return ConnectionError(errno, "send");
    if (n > 0) sent += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<ReceivedMessage> ExecutorConnection::Receive() {
  ReceivedMessage message;
  uint32_t length = 0;
  HOUTU_RETURN_IF_ERROR(
      ReceiveAll(reinterpret_cast<char*>(&length), sizeof(length), message.sender));
  if (length > kMessageBytesMax) return ConnectionError(EMSGSIZE, "receive");
  message.bytes.resize(length);
  HOUTU_RETURN_IF_ERROR(ReceiveAll(message.bytes.data(), length, message.sender));
  return message;
}

absl::Status ExecutorConnection::ReceiveAll(char* bytes, size_t size, pid_t& sender) {
  while (size > 0) {
    iovec piece = {bytes, size};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const ssize_t n = recvmsg(fd_, &header, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ConnectionError(n == 0 ? ECONNRESET : errno, "receive");
    const cmsghdr* part = CMSG_FIRSTHDR(&header);
    if (part != nullptr && part->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials;
      std::memcpy(&credentials, CMSG_DATA(part), sizeof(credentials));
      sender = credentials.pid;
    }
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

}  // namespace houtu::agent
