#!/bin/bash
# What dies and what holds: a client, an agent, a job manager, a master and a machine die while a job runs. No job is
# lost, no finished task runs again, and, but for the dead machine's, no running task is touched.
set -euo pipefail
cluster=itsurvive
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# start_ticks [TICKS]: a job of which all six long tasks run.
start_ticks() {
  ticks=${1:-40}
  job=$(submit "$jobs/tick.yaml" --set "env.TICKS=\"$ticks\"" --id-only)
  eventually "the six ticking tasks of $job run" running_at_least "$job" tick 6
}

# ends_right SENTENCE: the job succeeds, and each part holds 1 to $ticks, each once.
ends_right() {
  check "$1: the job succeeds" houtu job wait "$job" --timeout 60s
  rm -rf "$scratch/out"
  houtu job outputs "$job" --to "$scratch/out" 2>/dev/null
  local task
  for task in 0 1 2 3 4 5; do
    check "part $task counts from 1 to $ticks" diff <(seq "$ticks") "$scratch/out/tick/$task/part"
  done
}

none_ran_twice() { check "no task ran twice" [ "$(attempts "$job")" = 1 ]; }

# The shells of the ticking tasks on a machine, as process ids.
ticking_on() { local_cluster exec "$1" -- pgrep -f 'for i in ..seq' || true; }

test_client() {
  ticks=40
  submit "$jobs/tick.yaml" --wait >/dev/null 2>&1 &
  local client=$!
  eventually "the job of a client that waits runs" has_active_job
  job=$(houtu job list -o name | sed -n 1p)
  pkill -KILL -P "$client" || kill -KILL "$client"
  wait "$client" || true
  ends_right "a killed client"
  none_ran_twice
}
has_active_job() { [[ -n $(houtu job list -o name) ]]; }

test_agent() {
  start_ticks
  local node before
  node=$(tasks "$job" 'select(.stage == "tick") | .node' | sort | uniq -c | sort -rn | awk 'NR == 1 {print $2}')
  before=$(ticking_on "$node")
  local_cluster kill-process "$node"
  check "tasks outlive their agent" [ "$(ticking_on "$node")" = "$before" ]
  local_cluster start-process "$node"
  local_cluster wait "$node"
  check "tasks keep their process ids over the agent's restart" [ "$(ticking_on "$node")" = "$before" ]
  ends_right "a restarted agent"
  none_ran_twice
}

# What ends while the agent is away, for less than the time after which its node would be lost, is told when it is back.
test_agent_away() {
  start_ticks 12
  local node
  node=$(tasks "$job" 'select(.stage == "tick") | .node' | sort | uniq -c | sort -rn | awk 'NR == 1 {print $2}')
  local_cluster kill-process "$node"
  eventually "its tasks end while the agent of $node is away" no_ticks_on "$node"
  local_cluster start-process "$node"
  ends_right "an agent that was away"
  none_ran_twice
}
no_ticks_on() { [[ -z $(ticking_on "$1") ]]; }

# A process number is not a name: a stranger gets that of a task which ended while the agent was away.
test_process_number_reused() {
  start_ticks 12
  local node number
  node=$(tasks "$job" 'select(.stage == "tick") | .node' | sort | uniq -c | sort -rn | awk 'NR == 1 {print $2}')
  number=$(ticking_on "$node" | sed -n 1p)
  local_cluster kill-process "$node"
  eventually "its tasks end while the agent of $node is away" no_ticks_on "$node"
  start_bystander "$node" "$number"
  check "a bystander has the number of a task that ended" [ "$(bystander_on "$node")" = "$number" ]
  local_cluster start-process "$node"
  ends_right "a process number that was used again"
  none_ran_twice
  check "the bystander lives" [ "$(bystander_on "$node")" = "$number" ]
  local_cluster exec "$node" -- kill "$number"
}
# start_bystander NODE NUMBER
start_bystander() {
  # shellcheck disable=SC2016  # the inner shell's arguments
  local_cluster exec "$1" -- sh -c 'echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid; sleep 4242 >/dev/null 2>&1 &' sh "$2"
}
bystander_on() { local_cluster exec "$1" -- pgrep -f 'sleep 4242'; }

test_master() {
  start_ticks
  local old
  old=$(leader dc1)
  local_cluster kill-process "$old"
  eventually "the standby of dc1 leads" another_leads "$old"
  ends_right "a master that died"
  none_ran_twice
  local_cluster start-process "$old"
  local_cluster wait "$old"
}
another_leads() {
  local now
  now=$(leader dc1)
  [[ -n $now && $now != "$1" ]]
}

# The answer to a submission means that the job is safe.
test_accepted_is_safe() {
  local old accepted=0 i
  old=$(leader dc1)
  for i in $(seq 20); do submit "$jobs/one.yaml" --set "name=safe-$i" --id-only; done >"$scratch/ids"
  local_cluster kill-process "$old"
  eventually "a standby leads" another_leads "$old"
  accepted=$(houtu job list --all --limit 1000 -o name | grep -cFxf "$scratch/ids") || true
  check "20 jobs were accepted, 20 are there" [ "$accepted" = 20 ]
  for job in $(<"$scratch/ids"); do houtu job wait "$job" --timeout 60s >/dev/null 2>&1; done
  say "ok: and all 20 succeed"
  local_cluster start-process "$old"
  local_cluster wait "$old"
}

# The machine of the primary job manager: what lay only there and is still needed is made anew, nothing else.
test_machine() {
  start_ticks
  local node
  node=$(manager_node "$(houtu job show "$job" -o json | jq -r .status.primary_datacenter)")
  tasks "$job" "select(.stage == \"quick\" and .node != \"$node\") | .task // 0" | sort >"$scratch/elsewhere"
  local_cluster kill-vm "$node"
  ends_right "the machine of the primary job manager died"
  tasks "$job" 'select(.stage == "quick" and .attempt == 1) | .task // 0' | sort >"$scratch/once"
  check "no task that finished elsewhere ran again" [ -z "$(comm -23 "$scratch/elsewhere" "$scratch/once")" ]
  local_cluster start-vm "$node"
  local_cluster wait "$node"
}
manager_node() {
  houtu job events "$job" -o json |
    jq -r --arg dc "$1" '[.events[] | select(.kind == "KIND_MANAGER_STARTED" and .datacenter == $dc)][-1].node'
}

# With arguments: these tests alone.
main() {
  start_cluster --datacenters 2 --nodes 2 --standby --session-timeout 2s
  (($# > 0)) || set -- client agent agent_away process_number_reused master accepted_is_safe machine
  local name
  for name in "$@"; do "test_$name"; done
}

main "$@"
