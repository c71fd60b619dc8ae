// LevelProgram: the linear program of one step of max-min fairness. Among all ways to divide the
// servers that give each settled user its level, find one in which the lowest level of the
// others is as high as possible. One thread; keeps GLPK's basis from step to step.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "master/allocator/psdsf/instance.h"
#include "master/allocator/psdsf/server_groups.h"

extern "C" {
struct glp_prob;
void glp_delete_prob(glp_prob* problem);  // NOLINT(readability-identifier-naming): GLPK's name
}

namespace houtu::psdsf {

class LevelProgram {
 public:
  /// `unit`: the tasks of each user at level 1; looked at only where it has some gamma.
  LevelProgram(const Instance& instance, const std::vector<ServerGroup>& groups,
               const std::vector<double>& unit);

  /// That user's level is no longer raised.
  void Settle(int user, double level);

  /// The highest lowest level, at most `most`. INTERNAL: GLPK gave up.
  absl::StatusOr<double> Raise(double most);

  /// By how much the lowest level would be higher if this user's were allowed to be lower, after
  /// Raise; 0 for those who do not hold it down.
  double Dual(int user) const;

  /// [group * users + user] of the last solution.
  std::vector<double> Tasks() const;

 private:
  struct Delete {
    void operator()(glp_prob* problem) const { glp_delete_prob(problem); }
  };
  /// Of one user on one group: its column is the part of gamma that it runs.
  struct Cell {
    size_t group = 0;
    int user = 0;
    double gamma = 0;
  };

  void AddRows(const std::vector<ServerGroup>& groups);
  void AddCells(const Instance& instance, const std::vector<ServerGroup>& groups);
  void WriteLevelColumn();
  int ResourceRow(size_t group, int resource) const;

  int users_;
  int resources_;
  size_t groups_;
  std::vector<double> unit_;
  std::vector<Cell> cells_;
  std::vector<bool> settled_;
  std::unique_ptr<glp_prob, Delete> problem_;
};

}  // namespace houtu::psdsf
