#!/bin/bash
# Installs what is missing, builds release, and runs every test, unit and integration. Ends with ctest's summary.
# Run it as root: the integration tests make namespaces and containers.
#
#   deploy/test.sh [CTEST ARGUMENTS...]      for instance -L unit, or -R ledger
set -euo pipefail
deploy=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=${deploy%/*}
. "$deploy/lib/log.sh"
. "$deploy/lib/build.sh"

# More at once would only take memory: one compiler needs up to a GiB.
readonly build_jobs=2
# Clusters run one at a time; beside one of them the fuzz targets and the linter (niced) use what it leaves.
readonly test_jobs=3

unset HOUTU_CLUSTER_DIR HOUTU_BIN HOUTU_CONFIG

main() {
  need_root
  "$deploy/install.sh"
  build_release "$repository" -j "$build_jobs"
  ctest --test-dir "$repository/build/release" --parallel "$test_jobs" --output-on-failure --no-tests=error \
    "$@"
}

main "$@"
