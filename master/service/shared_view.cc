#include "master/service/shared_view.h"

#include "common/base/status.h"

namespace houtu::master {

absl::StatusOr<std::shared_ptr<coordination::Coordination>> SharedView::Store() const {
  const std::lock_guard lock(mutex_);
  if (store_ == nullptr) {
    return Error(absl::StatusCode::kUnavailable, "ZooKeeper can't be reached just now; try again");
  }
  return store_;
}

void SharedView::SetStore(std::shared_ptr<coordination::Coordination> store) {
  const std::lock_guard lock(mutex_);
  store_ = std::move(store);
}

absl::StatusOr<SharedView::Leading> SharedView::RequireLeading() const {
  const std::lock_guard lock(mutex_);
  if (leading_.has_value()) {
    return *leading_;
  }
  const auto leader = masters_.find(datacenter_);
  if (leader == masters_.end() || leader->second.address == address_) {
    return Error(absl::StatusCode::kUnavailable, "{} has no leading master just now; try again",
                 datacenter_);
  }
  return Error(absl::StatusCode::kUnavailable, "this master stands by; {} is led by {}",
               datacenter_, leader->second.address);
}

void SharedView::SetLeading(std::optional<Leading> leading) {
  const std::lock_guard lock(mutex_);
  leading_ = std::move(leading);
}

std::map<std::string, MasterAddress> SharedView::Masters() const {
  const std::lock_guard lock(mutex_);
  return masters_;
}

void SharedView::SetMasters(std::map<std::string, MasterAddress> masters) {
  const std::lock_guard lock(mutex_);
  masters_ = std::move(masters);
}

void SharedView::SetOwn(const std::string& datacenter, const std::string& address) {
  const std::lock_guard lock(mutex_);
  datacenter_ = datacenter;
  address_ = address;
}

std::shared_ptr<const SharedView::Cluster> SharedView::ClusterNow() const {
  const std::lock_guard lock(mutex_);
  return cluster_;
}

void SharedView::SetCluster(std::shared_ptr<const Cluster> cluster) {
  const std::lock_guard lock(mutex_);
  cluster_ = std::move(cluster);
}

}  // namespace houtu::master
