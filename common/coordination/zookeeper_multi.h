// A multi in the C client's structs.
#pragma once

#include <zookeeper/zookeeper.h>

#include <functional>
#include <string>
#include <vector>

#include "common/coordination/types.h"

namespace houtu::coordination {

/// The structs of one zoo_amulti, which the C client reads when it is called and writes until its
/// completion: they stay where they are that long.
class ZookeeperMulti {
 public:
  /// Maps a path of ours to the store's, or back.
  using MapPath = std::function<std::string(const std::string&)>;

  ZookeeperMulti(std::vector<Op> ops, const MapPath& absolute);
  ZookeeperMulti(const ZookeeperMulti&) = delete;
  ZookeeperMulti& operator=(const ZookeeperMulti&) = delete;

  int count() const { return static_cast<int>(client_ops_.size()); }
  const zoo_op_t* ops() const { return client_ops_.data(); }
  zoo_op_result_t* results() { return client_results_.data(); }

  /// After the completion with `code`.
  MultiResult Finish(int code, const MapPath& relative) const;

 private:
  struct Slot {
    std::string path;
    std::vector<char> created_path;
    ::Stat stat{};
  };

  void Init(const CreateOp& op, Slot* slot, zoo_op_t* client_op);
  void Init(const SetOp& op, Slot* slot, zoo_op_t* client_op);
  void Init(const DeleteOp& op, Slot* slot, zoo_op_t* client_op);
  void Init(const CheckOp& op, Slot* slot, zoo_op_t* client_op);
  int FailedOp() const;

  const std::vector<Op> ops_;
  std::vector<Slot> slots_;
  std::vector<zoo_op_t> client_ops_;
  std::vector<zoo_op_result_t> client_results_;
};

}  // namespace houtu::coordination
