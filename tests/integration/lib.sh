# What the tests of this folder share: one cluster per test, checks told as sentences, jobs and their tasks.
# Source it after setting $cluster, the cluster's name. Needs root and the programs in HOUTU_BIN (default: build/bin).
# shellcheck shell=bash
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034  # the tests use it
jobs=$repository/tests/integration/jobs
# shellcheck source=/dev/null
. "$repository/deploy/lib/log.sh"

unset HOUTU_CLUSTER_DIR HOUTU_CONFIG
# A condition that other processes bring about must hold within this time; a busy machine is slow.
readonly patience_ms=30000

scratch=$(mktemp -d)

local_cluster() { "$repository/deploy/local-cluster" --name "${cluster:?}" "$@"; }
houtu() { local_cluster client -- houtu "$@"; }
submit() { local_cluster client -- houtu-submit "$@"; }
machines() { printf '%s/vms' "$(local_cluster dir)"; }

clean_up() {
  local status=$?
  if ((status != 0)) && [[ -d $(machines) ]]; then
    say "--- the daemons' last words"
    tail -n 15 "$(machines)"/*/*.log >&2 || true
  fi
  if [[ -z ${HOUTU_KEEP_CLUSTER:-} ]]; then local_cluster down >/dev/null 2>&1 || true; fi  # to look at what failed
  rm -rf "$scratch"
  exit "$status"
}

# start_cluster ARG...: a fresh cluster, ended when the test ends, however it ends.
start_cluster() {
  need_root
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  local_cluster down >/dev/null 2>&1 || true  # what a run that was killed left of the same name
  local_cluster up "$@" >"$scratch/up" 2>&1 || { cat "$scratch/up" >&2; die "the cluster did not come up"; }
}

# check SENTENCE COMMAND...
check() {
  local sentence=$1
  shift
  "$@" || die "not so: $sentence"
  say "ok: $sentence"
}

# eventually SENTENCE COMMAND...: it becomes so.
eventually() {
  local sentence=$1
  shift
  wait_until "$patience_ms" "$@" || die "not so after $((patience_ms / 1000)) s: $sentence"
  say "ok: $sentence"
}

fails() { ! "$@" 2>/dev/null; }

# exits STATUS COMMAND...
exits() {
  local expected=$1 status=0
  shift
  "$@" >"$scratch/stdout" 2>"$scratch/stderr" || status=$?
  ((status == expected)) || {
    say "  status $status instead of $expected: $*"
    cat "$scratch/stdout" "$scratch/stderr" >&2
    return 1
  }
}

# tells TEXT: the last command run by "exits" said so on stderr or stdout.
tells() { grep -qF -- "$1" "$scratch/stdout" "$scratch/stderr"; }

job_state() { houtu job show "$1" -o json | jq -r '.status.state | sub("JOB_STATE_"; "")'; }
is_in_job_state() { [[ $(job_state "$1") == "$2" ]]; }
stage_count() { houtu job show "$1" -o json | jq -r --arg s "$2" --arg f "$3" '.status.stages[] | select(.name == $s) | .[$f] // 0'; }
# tasks JOB FILTER: what jq's filter makes of each task.
tasks() { houtu job show "$1" --tasks -o json | jq -r ".tasks[] | $2"; }
# The newest attempts of the job's tasks, each number once.
attempts() { tasks "$1" '.attempt' | sort -u; }
running_at_least() { (($(stage_count "$1" "$2" tasks_running) >= $3)); }
finished_at_least() { (($(stage_count "$1" "$2" tasks_finished) >= $3)); }
# leader DC: the machine whose master leads the datacenter.
leader() {
  local address
  address=$(houtu dc list -o json | jq -r --arg dc "$1" '.datacenters[] | select(.name == $dc) | .master_address // ""')
  local_cluster status | awk -v address="${address%:*}" '$3 == address {print $1}'
}
