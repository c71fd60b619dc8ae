#!/bin/bash
# Ten thousand tasks in one stage: no record nears ZooKeeper's limit, questions are answered in the middle of it, all
# partitions reach the task that joins them.
set -euo pipefail
cluster=itmany
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly tasks_total=10000
readonly record_bytes_max=$((512 << 10))
readonly answer_ms=1000
stage=$(awk '/- name: a-stage/ {print $3}' "$jobs/many.yaml")

answers_in_time() {
  local begin
  begin=$(now_ms)
  "$@" >/dev/null && (($(now_ms) - begin <= answer_ms))
}

# zookeeper_shell: commands on stdin to ZooKeeper's own client.
zookeeper_shell() {
  local_cluster client -- java -cp "/usr/share/java/*" org.apache.zookeeper.ZooKeeperMain -server 10.77.0.11:2181 2>/dev/null
}

# The size of the job's largest record, as ZooKeeper holds it.
records_bytes_max() {
  zookeeper_shell <<<"ls -R /houtu/v1/jobs/$1" | grep "^/houtu/v1/jobs/" | sed 's/^/stat /' | zookeeper_shell |
    awk '$1 == "dataLength" {if ($3 > max) max = $3} END {print max}'
}

main() {
  start_cluster --datacenters 1 --nodes 2 --cpu 4
  local job
  job=$(submit "$jobs/many.yaml" --id-only)
  eventually "a fifth of the tasks is done" finished_at_least "$job" "$stage" $((tasks_total / 5))
  check "the job is shown in the middle within a second" answers_in_time houtu job show "$job"
  check "the nodes are, too" answers_in_time houtu node list
  check "all tasks are listed, by pages" [ "$(tasks "$job" .task | wc -l)" -ge $tasks_total ]
  check "the job succeeds" houtu job wait "$job" --timeout 300s
  houtu job outputs "$job" --to "$scratch/out" 2>/dev/null
  check "all partitions reached the task that joins them" [ "$(<"$scratch/out/join/0/count")" = "$tasks_total" ]
  check "no attempt was lost or failed" [ "$(($(stage_count "$job" "$stage" attempts_lost) + $(stage_count "$job" "$stage" attempts_failed)))" = 0 ]
  check "no record is over half of ZooKeeper's limit" [ "$(records_bytes_max "$job")" -le "$record_bytes_max" ]
}

main "$@"
