// A cluster for a benchmark: the program starts it, runs itself anew where the masters can be
// reached, and ends it.
#pragma once

#include <string>
#include <vector>

namespace houtu::bench {

/// Where deploy/local-cluster is: beside the build folder of this program.
std::string LocalCluster();

/// Whether this process runs in the cluster's client network already.
bool InCluster();

/// Starts a cluster of one datacenter with two agents, runs argv in its client network, ends the
/// cluster. The exit status of argv; 1 if there was no cluster. Prints to stderr what went wrong.
int RunInCluster(const std::vector<std::string>& argv);

}  // namespace houtu::bench
