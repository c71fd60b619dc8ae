#include "common/coordination/zookeeper_multi.h"

#include <utility>
#include <variant>

#include "common/coordination/zookeeper_convert.h"

namespace houtu::coordination {
namespace {

constexpr size_t kNumberBytes = 11;  // ten digits of a sequential node and the final 0

const std::string& PathOf(const Op& op) {
  return std::visit([](const auto& o) -> const std::string& { return o.path; }, op);
}

int Length(const std::string& data) { return static_cast<int>(data.size()); }

}  // namespace

ZookeeperMulti::ZookeeperMulti(std::vector<Op> ops, const MapPath& absolute)
    : ops_(std::move(ops)),
      slots_(ops_.size()),
      client_ops_(ops_.size()),
      client_results_(ops_.size()) {
  for (size_t i = 0; i < ops_.size(); ++i) {
    slots_[i].path = absolute(PathOf(ops_[i]));
    std::visit([&](const auto& op) { Init(op, &slots_[i], &client_ops_[i]); }, ops_[i]);
  }
}

void ZookeeperMulti::Init(const CreateOp& op, Slot* slot, zoo_op_t* client_op) {
  slot->created_path.resize(slot->path.size() + kNumberBytes);
  zoo_create_op_init(client_op, slot->path.c_str(), op.data.data(), Length(op.data),
                     &ZOO_OPEN_ACL_UNSAFE, ModeOf(op.flags), slot->created_path.data(),
                     static_cast<int>(slot->created_path.size()));
}

void ZookeeperMulti::Init(const SetOp& op, Slot* slot, zoo_op_t* client_op) {
  zoo_set_op_init(client_op, slot->path.c_str(), op.data.data(), Length(op.data), op.version,
                  &slot->stat);
}

void ZookeeperMulti::Init(const DeleteOp& op, Slot* slot, zoo_op_t* client_op) {
  zoo_delete_op_init(client_op, slot->path.c_str(), op.version);
}

void ZookeeperMulti::Init(const CheckOp& op, Slot* slot, zoo_op_t* client_op) {
  zoo_check_op_init(client_op, slot->path.c_str(), op.version);
}

MultiResult ZookeeperMulti::Finish(int code, const MapPath& relative) const {
  MultiResult multi;
  if (code != ZOK) {
    multi.failed_op = FailedOp();
    const bool known = multi.failed_op >= 0;
    multi.status = known ? StatusOf(client_results_[multi.failed_op].err, Access::kWrite,
                                    PathOf(ops_[multi.failed_op]))
                         : StatusOf(code, Access::kWrite, "multi from " + PathOf(ops_.front()));
    return multi;
  }
  for (size_t i = 0; i < ops_.size(); ++i) {
    OpResult result;
    if (std::holds_alternative<CreateOp>(ops_[i])) {
      result.path = relative(slots_[i].created_path.data());
    }
    if (std::holds_alternative<SetOp>(ops_[i])) result.stat = FromClient(slots_[i].stat);
    multi.results.push_back(std::move(result));
  }
  return multi;
}

// ZooKeeper answers the ops around the one at fault with ZOK and ZRUNTIMEINCONSISTENCY.
int ZookeeperMulti::FailedOp() const {
  for (int i = 0; i < count(); ++i) {
    const int code = client_results_[i].err;
    if (code != ZOK && code != ZRUNTIMEINCONSISTENCY) return i;
  }
  return -1;
}

}  // namespace houtu::coordination
