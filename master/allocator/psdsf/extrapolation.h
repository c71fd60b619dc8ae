// Extrapolation: makes a slowly converging iteration x -> g(x) faster by Anderson's method: of the
// last few steps it takes the combination whose change, were g linear, would be the smallest, and
// says where to go on from. PS-DSF's passes are piecewise linear, so once the set of users that
// each server serves no longer changes, this finds within tens of passes what the passes by
// themselves approach in thousands. Only a proposal: the caller's passes decide what is converged.
// One thread.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace houtu::psdsf {

class Extrapolation {
 public:
  /// `memory`: steps remembered; 0: proposes what the pass gave.
  explicit Extrapolation(int memory) : memory_(static_cast<size_t>(memory)) {}

  /// A pass led from `before` to `after`. Returns where the next is to start. `scale`: what each
  /// component weighs.
  std::vector<double> Next(const std::vector<double>& before, const std::vector<double>& after,
                           const std::vector<double>& scale);

 private:
  struct Step {
    /// By how much (after - before) * scale, and after, differ from those of the step before.
    std::vector<double> change;
    std::vector<double> result;
  };

  void Forget();
  void Remember(std::vector<double> change, const std::vector<double>& after);
  std::vector<double> Weights(const std::vector<double>& change) const;

  size_t memory_;
  std::deque<Step> steps_;
  /// Inner products of the steps' changes, row by row.
  std::deque<std::deque<double>> products_;
  std::vector<double> last_change_;
  std::vector<double> last_result_;
  double last_size_ = 0;
  /// Passes since the change last grew, and how many there must be for a proposal.
  int calm_ = 0;
  int calm_needed_ = 2;
  /// Whether the last pass started from a proposal.
  bool proposed_ = false;
};

}  // namespace houtu::psdsf
