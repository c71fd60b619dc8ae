// Calls from a loop: the answer comes back by Post.
#pragma once

#include <grpcpp/client_context.h>

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/loop/event_loop.h"
#include "common/rpc/limits.h"
#include "common/rpc/status.h"

namespace houtu {

/// Sets the context's deadline to `after` from now.
void SetDeadline(grpc::ClientContext* context, absl::Duration after);

/// Starts a unary call on a generated async stub's method and runs `done(status, response)` on the
/// loop:
///   CallOnLoop<Response>(loop, request, [&](auto* c, auto* q, auto* r, auto cb) {
///       stub->async()->Method(c, q, r, std::move(cb)); }, done);
/// `keep_alive` lives until the call ends (the stub, usually).
template <typename Response, typename Request, typename Start, typename Done>
void CallOnLoop(EventLoop* loop, std::shared_ptr<void> keep_alive, Request request, Start start,
                Done done, absl::Duration deadline = kCallDeadline) {
  struct State {
    grpc::ClientContext context;
    Request request;
    Response response;
    std::shared_ptr<void> keep_alive;
  };
  auto state = std::make_shared<State>();
  state->request = std::move(request);
  state->keep_alive = std::move(keep_alive);
  SetDeadline(&state->context, deadline);
  start(&state->context, &state->request, &state->response,
        [loop, state, done = std::move(done)](const grpc::Status& status) {
          loop->Post([state, done, status = FromGrpc(status)]() mutable {
            done(status, state->response);
          });
        });
}

}  // namespace houtu
