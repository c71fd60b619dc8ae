#include "common/coordination/watch.h"

#include <utility>

namespace houtu::coordination {
namespace {

using NodeWatch = LastingWatch<std::optional<Node>>;
using NamesWatch = LastingWatch<std::vector<std::string>>;

// Waits for a node to come: reads that it is absent and sets the watch.
template <typename T>
void ReadAbsence(Coordination* coordination, const std::string& path, T absent, Watch watch,
                 typename LastingWatch<T>::ReadDone done) {
  const bool arm = watch != nullptr;
  coordination->Exists(
      path,
      [absent = std::move(absent), arm,
       done = std::move(done)](absl::StatusOr<std::optional<Stat>> stat) {
        if (!stat.ok()) {
          done(stat.status());
        } else if (stat->has_value()) {
          // It came in between. The watch set here may not tell of children: set another.
          done(typename LastingWatch<T>::Reading{.value = std::nullopt, .armed = false});
        } else {
          done(typename LastingWatch<T>::Reading{.value = absent, .armed = arm});
        }
      },
      std::move(watch));
}

void ReadNode(Coordination* coordination, const std::string& path, Watch watch,
              NodeWatch::ReadDone done) {
  coordination->Get(
      path,
      [coordination, path, watch, done = std::move(done)](absl::StatusOr<Node> node) {
        if (node.ok()) {
          done(NodeWatch::Reading{.value = std::move(node).value(), .armed = watch != nullptr});
        } else if (absl::IsNotFound(node.status())) {
          ReadAbsence<std::optional<Node>>(coordination, path, std::nullopt, watch, done);
        } else {
          done(node.status());
        }
      },
      watch);
}

void ReadNames(Coordination* coordination, const std::string& path, Watch watch,
               NamesWatch::ReadDone done) {
  coordination->GetChildren(
      path,
      [coordination, path, watch, done = std::move(done)](absl::StatusOr<Children> children) {
        if (children.ok()) {
          done(NamesWatch::Reading{.value = std::move(children->names), .armed = watch != nullptr});
        } else if (absl::IsNotFound(children.status())) {
          ReadAbsence<std::vector<std::string>>(coordination, path, {}, watch, done);
        } else {
          done(children.status());
        }
      },
      watch);
}

}  // namespace

DataWatch::DataWatch(Coordination* coordination, const std::string& path, DataCallback callback)
    : watch_(
          coordination, path,
          [coordination, path](Watch watch, NodeWatch::ReadDone done) {
            ReadNode(coordination, path, std::move(watch), std::move(done));
          },
          std::move(callback)) {}

ChildrenWatch::ChildrenWatch(Coordination* coordination, const std::string& path,
                             NamesCallback callback)
    : watch_(
          coordination, path,
          [coordination, path](Watch watch, NamesWatch::ReadDone done) {
            ReadNames(coordination, path, std::move(watch), std::move(done));
          },
          std::move(callback)) {}

}  // namespace houtu::coordination
