#include "master/allocator/psdsf/level_program.h"

#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/status.h"

namespace houtu::psdsf {
namespace {

/// Column 1 is the level; cells follow. GLPK counts from 1.
constexpr int kLevelColumn = 1;

/// GLPK's default of 1e-7 would show in the shares.
constexpr double kFeasible = 1e-10;
constexpr double kFeasibleByDefault = 1e-7;

/// Steps of the simplex method per row and column: far more than it takes where it does not go
/// round in circles.
constexpr int kStepsPerRowAndColumn = 20;
constexpr int kStepsAnyway = 1000;

/// A settled level may come out lower by this part: exactly kept, rounding makes a program without
/// a solution now and then.
constexpr double kSettledSlack = 1e-10;

/// GLPK's code; 0: it came to an end.
int Simplex(glp_prob* problem, double feasible) {
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.tol_bnd = feasible;
  options.it_lim = kStepsAnyway +
                   kStepsPerRowAndColumn * (glp_get_num_rows(problem) + glp_get_num_cols(problem));
  return glp_simplex(problem, &options);
}

}  // namespace

LevelProgram::LevelProgram(const Instance& instance, const std::vector<ServerGroup>& groups,
                           const std::vector<double>& unit)
    : users_(instance.user_count()),
      resources_(instance.resources),
      groups_(groups.size()),
      unit_(unit),
      settled_(instance.users.size(), false),
      problem_(glp_create_prob()) {
  glp_set_obj_dir(problem_.get(), GLP_MAX);
  AddRows(groups);
  glp_add_cols(problem_.get(), 1);
  glp_set_obj_coef(problem_.get(), kLevelColumn, 1);
  AddCells(instance, groups);
  WriteLevelColumn();
}

int LevelProgram::ResourceRow(size_t group, int resource) const {
  return users_ + static_cast<int>(group) * resources_ + resource + 1;
}

/// Users: level of the user - lowest level >= 0. Then resources, as parts of the capacity: <= 1.
void LevelProgram::AddRows(const std::vector<ServerGroup>& groups) {
  if (users_ + static_cast<int>(groups.size()) * resources_ > 0) {
    glp_add_rows(problem_.get(), users_ + static_cast<int>(groups.size()) * resources_);
  }
  for (int n = 0; n < users_; ++n) {
    glp_set_row_bnds(problem_.get(), n + 1, GLP_LO, 0, 0);
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    for (int r = 0; r < resources_; ++r) {
      glp_set_row_bnds(problem_.get(), ResourceRow(g, r), GLP_UP, 0, 1);
    }
  }
}

void LevelProgram::AddCells(const Instance& instance, const std::vector<ServerGroup>& groups) {
  for (size_t g = 0; g < groups.size(); ++g) {
    for (int n = 0; n < users_; ++n) {
      const double gamma = groups[g].gamma[n];
      if (gamma == 0) {
        continue;
      }
      std::vector<int> rows = {0, n + 1};
      std::vector<double> values = {0, gamma / unit_[n]};
      for (int r = 0; r < resources_; ++r) {
        if (instance.users[n].demand[r] > 0) {
          rows.push_back(ResourceRow(g, r));
          values.push_back(instance.users[n].demand[r] * gamma / groups[g].capacity[r]);
        }
      }
      const int column = glp_add_cols(problem_.get(), 1);
      glp_set_col_bnds(problem_.get(), column, GLP_LO, 0, 0);
      glp_set_mat_col(problem_.get(), column, static_cast<int>(rows.size()) - 1, rows.data(),
                      values.data());
      cells_.push_back({.group = g, .user = n, .gamma = gamma});
    }
  }
}

void LevelProgram::WriteLevelColumn() {
  std::vector<int> rows = {0};
  std::vector<double> values = {0};
  for (int n = 0; n < users_; ++n) {
    if (!settled_[n]) {
      rows.push_back(n + 1);
      values.push_back(-1);
    }
  }
  glp_set_mat_col(problem_.get(), kLevelColumn, static_cast<int>(rows.size()) - 1, rows.data(),
                  values.data());
}

void LevelProgram::Settle(int user, double level) {
  settled_[user] = true;
  if (level > 0) {
    glp_set_row_bnds(problem_.get(), user + 1, GLP_DB, level * (1 - kSettledSlack), level);
  } else {
    glp_set_row_bnds(problem_.get(), user + 1, GLP_FX, 0, 0);
  }
  WriteLevelColumn();
}

absl::StatusOr<double> LevelProgram::Raise(double most) {
  if (most == std::numeric_limits<double>::infinity()) {
    glp_set_col_bnds(problem_.get(), kLevelColumn, GLP_LO, 0, 0);
  } else {
    glp_set_col_bnds(problem_.get(), kLevelColumn, most > 0 ? GLP_DB : GLP_FX, 0, most);
  }
  int code = Simplex(problem_.get(), kFeasible);
  if (code != 0 || glp_get_status(problem_.get()) != GLP_OPT) {
    // The basis kept from the step before became singular, or it goes round in circles.
    glp_std_basis(problem_.get());
    code = Simplex(problem_.get(), kFeasibleByDefault);
  }
  if (code != 0 || glp_get_status(problem_.get()) != GLP_OPT) {
    return Error(absl::StatusCode::kInternal, "GLPK gave up: code {}, status {}", code,
                 glp_get_status(problem_.get()));
  }
  return glp_get_col_prim(problem_.get(), kLevelColumn);
}

double LevelProgram::Dual(int user) const {
  return std::abs(glp_get_row_dual(problem_.get(), user + 1));
}

std::vector<double> LevelProgram::Tasks() const {
  std::vector<double> tasks(groups_ * users_, 0);
  for (size_t k = 0; k < cells_.size(); ++k) {
    const Cell& cell = cells_[k];
    const double part = glp_get_col_prim(problem_.get(), static_cast<int>(k) + 2);
    tasks[cell.group * users_ + cell.user] = std::max(0.0, part) * cell.gamma;
  }
  return tasks;
}

}  // namespace houtu::psdsf
