// A cluster for a benchmark: the program starts one, or takes one that runs, and runs itself anew
// where that cluster's masters can be reached.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): not our name
class App;
}

namespace houtu::bench {

/// A cluster that runs already, as local-cluster names it; both empty: one of the program's own.
struct ClusterChoice {
  std::string name;
  std::string dir;
  bool running() const { return !name.empty() || !dir.empty(); }
};

void AddClusterOptions(CLI::App* app, ClusterChoice* choice);

/// Whether this process runs in the cluster's client network already.
bool InCluster();

/// Runs this program with `arguments` in the client network of the chosen cluster, or of a fresh
/// one (one datacenter, two agents) that it ends afterwards, also on SIGINT and SIGTERM. Returns
/// the exit status; 1 if there was no cluster. Prints to stderr what went wrong.
int RunInCluster(const ClusterChoice& choice, const std::vector<std::string>& arguments);

}  // namespace houtu::bench
