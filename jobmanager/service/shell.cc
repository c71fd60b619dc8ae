#include "jobmanager/service/shell.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "common/log/log.h"

namespace houtu::jobmanager {

Shell::Shell(Options options)
    : loop_(options.loop),
      metrics_(options.metrics),
      on_end_(std::move(options.on_end)),
      core_(std::move(options.context)),
      writer_(options.coordination, paths_, core_.context(), options.recovered,
              {.on_written = [this](int64_t batch) { Tell(RecordsWritten{batch}); },
               .on_lost = [this](const absl::Status& status) { End(status); }}),
      master_({.loop = loop_,
               .coordination = options.coordination,
               .channels = options.channels,
               .paths = paths_,
               .context = &core_.context(),
               .token = options.token},
              {.tell = [this](const Event& event) { Tell(event); },
               .on_stale = [this](const absl::Status& status) { End(status); }}),
      agents_({.loop = loop_,
               .channels = options.channels,
               .context = &core_.context(),
               .token = options.token},
              {.tell = [this](const Event& event) { Tell(event); },
               .on_stale = [this](const absl::Status& status) { End(status); }}),
      calls_({.loop = loop_,
              .coordination = options.coordination,
              .channels = options.channels,
              .paths = paths_,
              .context = &core_.context(),
              .token = options.token},
             [this](const Event& event) { Tell(event); }) {
  if (!core_.context().primary()) {
    primary_ =
        std::make_unique<PrimaryLink>(PrimaryLink::Options{.loop = loop_,
                                                           .coordination = options.coordination,
                                                           .channels = options.channels,
                                                           .paths = paths_,
                                                           .context = &core_.context(),
                                                           .token = options.token});
  }
  session_ = options.coordination->OnSessionState([this](coordination::SessionState state) {
    LogInfo("zookeeper session", {{"state", coordination::Name(state)}});
    if (state == coordination::SessionState::kExpired) {
      End(absl::UnavailableError("the ZooKeeper session expired"));
    }
  });
  Tell(options.recovered);
  watch_ = std::make_unique<RecordWatch>(options.coordination, paths_, core_.context(),
                                         [this](const Event& event) { Tell(event); });
}

absl::Time Shell::Now() {
  now_ = std::max(now_, absl::Now());
  return now_;
}

void Shell::Tell(const Event& event) {
  Effects effects = core_.Step(Now(), event);
  for (Effect& effect : effects.list) {
    Perform(std::move(effect));
  }
  SetTimer(effects.wake_at);
}

void Shell::Perform(Effect effect) {
  metrics_->Observe(effect);
  std::visit([this](auto& typed) { Do(std::move(typed)); }, effect);
}

void Shell::Do(ReportToPrimary effect) {
  if (primary_ != nullptr) {
    primary_->Report(std::move(effect.report));
  }
}

void Shell::Do(const Finish& /*effect*/) { End(absl::OkStatus()); }

void Shell::SetTimer(absl::Time at) {
  if (at == wake_at_ && timer_ != 0) {
    return;
  }
  if (timer_ != 0) {
    loop_->Cancel(timer_);
    timer_ = 0;
  }
  wake_at_ = at;
  if (at == absl::InfiniteFuture()) {
    return;
  }
  timer_ = loop_->PostAfter(at - now_, lifeline_.Guard([this] {
    timer_ = 0;
    Tell(Tick{});
  }));
}

void Shell::End(absl::Status status) {
  if (on_end_ != nullptr) {
    std::exchange(on_end_, nullptr)(std::move(status));
  }
}

}  // namespace houtu::jobmanager
