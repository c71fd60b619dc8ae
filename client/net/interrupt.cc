#include "client/net/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/check.h"

namespace houtu::client {
namespace {

/// Longest wait of the watching thread: clocks may jump.
constexpr absl::Duration kLookAgain = absl::Seconds(1);

/// The pipe from the signal handler, which may do little else than write a byte.
std::array<int, 2> signal_pipe = {-1, -1};

void OnSignal(int signal_number) {
  const int saved = errno;
  const char byte = static_cast<char>(signal_number);
  [[maybe_unused]] const ssize_t written = ::write(signal_pipe[1], &byte, 1);
  errno = saved;
}

void SetHandlers(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (const int signal_number : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    ::sigaction(signal_number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) {  // ignored for us by who started us (nohup, a shell's "&")
      ::sigaction(signal_number, &action, nullptr);
    }
  }
}

}  // namespace

Interrupt::Interrupt() : thread_([this] { Run(); }) {}

Interrupt::~Interrupt() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Interrupt::Fire() {
  {
    const std::lock_guard lock(mutex_);
    fired_ = true;
  }
  wake_.notify_all();
}

bool Interrupt::fired() const {
  const std::lock_guard lock(mutex_);
  return fired_;
}

bool Interrupt::Sleep(absl::Duration duration) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, absl::ToChronoNanoseconds(duration), [this] { return fired_; });
}

void Interrupt::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    CancelDue(absl::Now());
    const absl::Duration wait = std::min(NextDue() - absl::Now(), kLookAgain);
    wake_.wait_for(lock, absl::ToChronoNanoseconds(std::max(wait, absl::ZeroDuration())));
  }
}

void Interrupt::CancelDue(absl::Time now) {
  for (auto& [id, watched] : watched_) {
    if (!watched.cancelled && (fired_ || watched.idle_at <= now)) {
      watched.cancelled = true;
      watched.idled = !fired_;
      watched.cancel();
    }
  }
}

absl::Time Interrupt::NextDue() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [id, watched] : watched_) {
    next = watched.cancelled ? next : std::min(next, watched.idle_at);
  }
  return next;
}

Interrupt::Watch::Watch(Interrupt* interrupt, absl::Duration idle, std::function<void()> cancel)
    : interrupt_(interrupt) {
  {
    const std::lock_guard lock(interrupt_->mutex_);
    id_ = interrupt_->next_id_++;
    interrupt_->watched_[id_] = {.cancel = std::move(cancel), .idle_at = absl::Now() + idle};
  }
  interrupt_->wake_.notify_all();
}

Interrupt::Watch::~Watch() {
  const std::lock_guard lock(interrupt_->mutex_);
  interrupt_->watched_.erase(id_);
}

void Interrupt::Watch::Touch(absl::Duration idle) {
  const std::lock_guard lock(interrupt_->mutex_);
  interrupt_->watched_[id_].idle_at = absl::Now() + idle;
}

bool Interrupt::Watch::idled() const {
  const std::lock_guard lock(interrupt_->mutex_);
  return interrupt_->watched_[id_].idled;
}

SignalSource::SignalSource(Interrupt* interrupt) {
  HOUTU_CHECK(signal_pipe[0] == -1, "one SignalSource at a time");
  HOUTU_CHECK(::pipe2(signal_pipe.data(), O_CLOEXEC) == 0, "a pipe can be made");
  thread_ = std::thread([interrupt] {
    char byte = 0;
    while (::read(signal_pipe[0], &byte, 1) < 0 && errno == EINTR) {
    }
    if (byte != 0) {
      interrupt->Fire();
    }
  });
  SetHandlers(OnSignal);
}

SignalSource::~SignalSource() {
  SetHandlers(SIG_DFL);
  const char stop = 0;
  [[maybe_unused]] const ssize_t written = ::write(signal_pipe[1], &stop, 1);
  thread_.join();
  ::close(signal_pipe[0]);
  ::close(signal_pipe[1]);
  signal_pipe = {-1, -1};
}

}  // namespace houtu::client
