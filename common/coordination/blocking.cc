#include "common/coordination/blocking.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "common/base/status.h"
#include "common/coordination/ensure_path.h"

namespace houtu::coordination {
namespace {

// Posts `call` with a callback, waits for what the callback is given. The promise is shared: an
// answer that comes after the wait finds it alive. Empty: nothing came in time.
template <typename Result>
std::optional<Result> Await(Coordination* coordination, absl::Duration timeout,
                            std::function<void(std::function<void(Result)>)> call) {
  auto promise = std::make_shared<std::promise<Result>>();
  std::future<Result> future = promise->get_future();
  coordination->post()([call = std::move(call), promise] {
    call([promise](Result result) { promise->set_value(std::move(result)); });
  });
  if (future.wait_for(absl::ToChronoNanoseconds(timeout)) != std::future_status::ready) {
    return std::nullopt;
  }
  return future.get();
}

absl::Status Late(std::string_view what, absl::Duration timeout) {
  return Error(absl::StatusCode::kDeadlineExceeded, "{}: no answer within {}", what,
               absl::FormatDuration(timeout));
}

// Calls `done` once when the session is connected or over.
void WhenSettled(Coordination* coordination, std::function<void(absl::Status)> done) {
  auto subscription = std::make_shared<Subscription>();
  auto told = std::make_shared<bool>(false);
  auto listener = [subscription, told, done = std::move(done)](SessionState state) {
    const bool settled = state == SessionState::kConnected || state == SessionState::kExpired;
    if (!settled || std::exchange(*told, true)) return;
    done(state == SessionState::kConnected
             ? absl::OkStatus()
             : absl::UnavailableError("the coordination session expired"));
    *subscription = Subscription();
  };
  *subscription = coordination->OnSessionState(listener);
  listener(coordination->state());
}

}  // namespace

absl::Status BlockingCoordination::AwaitConnected() const {
  auto status = Await<absl::Status>(
      coordination_, timeout_, [c = coordination_](Done done) { WhenSettled(c, std::move(done)); });
  if (status.has_value()) return *status;
  return Error(absl::StatusCode::kUnavailable, "no coordination server answered within {}",
               absl::FormatDuration(timeout_));
}

absl::StatusOr<std::string> BlockingCoordination::Create(const std::string& path,
                                                         const std::string& data,
                                                         CreateFlags flags) const {
  return Await<absl::StatusOr<std::string>>(coordination_, timeout_,
                                            [=, c = coordination_](Callback<std::string> done) {
                                              c->Create(path, data, flags, std::move(done));
                                            })
      .value_or(Late("create " + path, timeout_));
}

absl::StatusOr<Node> BlockingCoordination::Get(const std::string& path) const {
  return Await<absl::StatusOr<Node>>(
             coordination_, timeout_,
             [=, c = coordination_](Callback<Node> done) { c->Get(path, std::move(done)); })
      .value_or(Late("get " + path, timeout_));
}

absl::StatusOr<Stat> BlockingCoordination::Set(const std::string& path, const std::string& data,
                                               int32_t version) const {
  return Await<absl::StatusOr<Stat>>(coordination_, timeout_,
                                     [=, c = coordination_](Callback<Stat> done) {
                                       c->Set(path, data, version, std::move(done));
                                     })
      .value_or(Late("set " + path, timeout_));
}

absl::Status BlockingCoordination::Delete(const std::string& path, int32_t version) const {
  return Await<absl::Status>(
             coordination_, timeout_,
             [=, c = coordination_](Done done) { c->Delete(path, version, std::move(done)); })
      .value_or(Late("delete " + path, timeout_));
}

absl::StatusOr<std::vector<std::string>> BlockingCoordination::GetChildren(
    const std::string& path) const {
  absl::StatusOr<Children> children =
      Await<absl::StatusOr<Children>>(coordination_, timeout_,
                                      [=, c = coordination_](Callback<Children> done) {
                                        c->GetChildren(path, std::move(done));
                                      })
          .value_or(Late("children of " + path, timeout_));
  if (!children.ok()) return children.status();
  return std::move(children->names);
}

absl::StatusOr<std::optional<Stat>> BlockingCoordination::Exists(const std::string& path) const {
  return Await<absl::StatusOr<std::optional<Stat>>>(
             coordination_, timeout_,
             [=, c = coordination_](Callback<std::optional<Stat>> done) {
               c->Exists(path, std::move(done));
             })
      .value_or(Late("exists " + path, timeout_));
}

MultiResult BlockingCoordination::Multi(const std::vector<Op>& ops) const {
  return Await<MultiResult>(coordination_, timeout_,
                            [=, c = coordination_](std::function<void(MultiResult)> done) {
                              c->Multi(ops, std::move(done));
                            })
      .value_or(MultiResult{.status = Late("multi", timeout_), .failed_op = -1, .results = {}});
}

absl::Status BlockingCoordination::EnsurePath(const std::string& path) const {
  return Await<absl::Status>(coordination_, timeout_,
                             [=, c = coordination_](Done done) {
                               coordination::EnsurePath(c, path, std::move(done));
                             })
      .value_or(Late("create " + path, timeout_));
}

}  // namespace houtu::coordination
