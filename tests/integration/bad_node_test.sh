#!/bin/bash
# A machine that can start nothing takes no work: its failures are charged to no task, it is shown as out of service
# with the reason in words, and it is back by itself when it is repaired.
set -euo pipefail
cluster=itbadnode
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

node_state() { houtu node list -o json | jq -r --arg node "$1" '.nodes[] | select(.name == $node) | .state'; }
is_in_node_state() { [[ $(node_state "$1") == "STATE_$2" ]]; }
node_says() { grep -qi -- "$2" <<<"$(houtu node show "$1")"; }

break_disk() {
  local work
  work=$(machines)/$1/work
  local_cluster exec "$1" -- mount --bind "$work" "$work"
  local_cluster exec "$1" -- mount -o remount,ro,bind "$work"
}
repair_disk() { local_cluster exec "$1" -- umount -l "$(machines)/$1/work"; }

main() {
  start_cluster --datacenters 1 --nodes 2
  break_disk dc1-n1
  local job
  job=$(submit "$repository/tests/integration/jobs/tick.yaml" --set 'datacenters=[dc1]' --set 'stages[1].tasks=12' \
    --set 'retry.attempts=1' --id-only)
  eventually "a node with a read-only disk is out of service" is_in_node_state dc1-n1 OUT_OF_SERVICE
  check "it says why" node_says dc1-n1 "read-only"
  check "the job succeeds on the other" houtu job wait "$job" --timeout 90s
  check "no task was charged an attempt" [ "$(stage_count "$job" tick attempts_failed)" = 0 ]
  check "at most 5 starts were tried on the bad node" [ "$(($(stage_count "$job" quick starts_failed) + $(stage_count "$job" tick starts_failed)))" -le 5 ]
  repair_disk dc1-n1
  eventually "it takes work again after the repair, without a restart" is_in_node_state dc1-n1 READY
}

main "$@"
