#include "master/service/job_watch.h"

#include "common/rpc/status.h"
#include "master/service/job_reader.h"

namespace houtu::master {
namespace {

template <typename Message>
std::optional<Message> Parse(const std::optional<coordination::Node>& node) {
  Message message;
  if (!node.has_value() || !message.ParseFromString(node->data)) {
    return std::nullopt;
  }
  return message;
}

}  // namespace

std::shared_ptr<JobWatch> JobWatch::Create(EventLoop* loop, const SharedView* view) {
  std::shared_ptr<JobWatch> watch(new JobWatch(loop, view));
  watch->self_ = watch;
  return watch;
}

void JobWatch::Watch(std::shared_ptr<coordination::Coordination> store, const RecordPaths& paths,
                     v1::JobRecord record) {
  loop_->Post([self = shared_from_this(), store = std::move(store), paths,
               record = std::move(record)]() mutable {
    bool ended = false;
    {
      const std::lock_guard lock(self->mutex_);
      ended = self->ended_;
    }
    if (!ended) {
      self->StartWatches(std::move(store), paths, std::move(record));
    }
  });
}

void JobWatch::StartWatches(std::shared_ptr<coordination::Coordination> store,
                            const RecordPaths& paths, v1::JobRecord record) {
  watches_ = std::make_unique<Watches>();
  Watches& w = *watches_;
  w.store = std::move(store);
  const std::string id = record.id();
  w.record = std::move(record);
  w.session = w.store->OnSessionState([this](coordination::SessionState state) {
    if (state == coordination::SessionState::kExpired) {
      End(absl::UnavailableError("this master lost its ZooKeeper session; ask again"));
    }
  });
  w.state_watch = std::make_unique<coordination::DataWatch>(
      w.store.get(), paths.State(id), [this](const auto& node) {
        watches_->state = Parse<v1::JobStateRecord>(node);
        watches_->state_told = true;
        if (!node.has_value()) {
          End(absl::NotFoundError("the job was removed after its retention"));
        }
        OnChange();
      });
  w.status_watch = std::make_unique<coordination::DataWatch>(
      w.store.get(), paths.Status(id), [this](const auto& node) {
        watches_->status = Parse<v1::JobStatus>(node);
        watches_->status_told = true;
        OnChange();
      });
  w.cancel_watch = std::make_unique<coordination::DataWatch>(
      w.store.get(), paths.Cancel(id), [this](const auto& node) {
        watches_->cancel_requested = node.has_value();
        OnChange();
      });
}

void JobWatch::OnChange() {
  const Watches& w = *watches_;
  if (!w.state_told || !w.status_told || !w.state.has_value()) {
    return;
  }
  const auto cluster = view_->ClusterNow();
  const auto waits = cluster->waits.find(w.record.id());
  Offer(AssembleStatus(
            w.record, *w.state, w.status.has_value() ? &*w.status : nullptr, w.cancel_requested,
            waits == cluster->waits.end() ? std::vector<v1::WaitReason>() : waits->second),
        HasEnded(w.state->state()));
}

void JobWatch::Offer(v1::JobStatus status, bool last) {
  const std::lock_guard lock(mutex_);
  if (ended_) {
    return;
  }
  last_offered_ = last;
  if (write_in_flight_) {
    next_ = std::move(status);
    return;
  }
  writing_ = std::move(status);
  write_in_flight_ = true;
  StartWrite(&writing_);
}

void JobWatch::OnWriteDone(bool ok) {
  std::unique_lock lock(mutex_);
  write_in_flight_ = false;
  if (ok && next_.has_value() && !ended_) {
    writing_ = *std::move(next_);
    next_.reset();
    write_in_flight_ = true;
    StartWrite(&writing_);
    return;
  }
  const bool finish = !ok || last_offered_;
  lock.unlock();
  if (finish) {
    End(ok ? absl::OkStatus() : absl::CancelledError("the client is gone"));
  }
}

void JobWatch::Refuse(const absl::Status& status) { End(status); }

void JobWatch::OnCancel() { End(absl::CancelledError("the client is gone")); }

void JobWatch::End(const absl::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      return;
    }
    ended_ = true;
  }
  Finish(ToGrpc(status));
}

void JobWatch::OnDone() {
  // The watches end on their own thread, and what they called is over by then.
  loop_->Post([self = std::move(self_)] { self->watches_.reset(); });
}

}  // namespace houtu::master
