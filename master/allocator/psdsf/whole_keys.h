// WholeKeys: who comes first where whole tasks are placed, by policy. One thread.
#pragma once

#include <vector>

#include "master/allocator/psdsf/instance.h"
#include "master/allocator/psdsf/whole.h"
#include "master/allocator/psdsf/whole_room.h"

namespace houtu::psdsf {

class WholeKeys {
 public:
  /// Instance and room must outlive this.
  WholeKeys(const WholeInstance& instance, WholePolicy policy, const WholeRoom& room);

  /// The smallest is served first; grows as tasks are placed. Precondition: a task of the user
  /// fits somewhere, on that server if the policy's key depends on it.
  double Key(int user, int server) const;

  /// How differently proportioned the server's free resources and a task of the user are, each
  /// resource measured by that of which the task takes the largest part of the cluster. (The
  /// authors measure by the first resource, which a task may not need.) Precondition: as Key.
  double Misfit(int user, int server) const;

 private:
  const WholeInstance& instance_;
  WholePolicy policy_;
  const WholeRoom& room_;
  /// Capacity of the cluster.
  std::vector<double> total_;
  /// Key per task, for policies whose key is the same on every server.
  std::vector<double> global_key_;
};

}  // namespace houtu::psdsf
