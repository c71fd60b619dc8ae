#!/bin/bash
# deploy/local-cluster keeps its promises: machines are apart, die at once and come back, cuts cut, and
# "down" leaves nothing of it. Needs root and the daemons in HOUTU_BIN (default: build/bin).
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$repository/deploy/lib/log.sh"

readonly name=itlocal
readonly answer_s=1
unset HOUTU_CLUSTER_DIR
scratch=$(mktemp -d)

local_cluster() { "$repository/deploy/local-cluster" --name "$name" "$@"; }

clean_up() {
  local_cluster down >/dev/null 2>&1 || true
  rm -rf "$scratch"
}

# check SENTENCE COMMAND...
check() {
  local sentence=$1
  shift
  "$@" || die "not so: $sentence"
  say "ok: $sentence"
}

fails() { ! "$@" 2>/dev/null; }

# What a cluster could leave behind in the host's own namespaces.
host_traces() {
  sort /proc/self/mounts
  ip -br link
  ip -br addr
  ip netns list
  find /sys/fs/cgroup -type d -name "houtu-$name-*"
  find / -xdev -maxdepth 1 | sort
  find /tmp -maxdepth 1 -name "houtu-cluster-$name*"
}

# Namespaces and processes of the running cluster: all that descends from its first process.
cluster_processes() {
  local first
  read -r first _ <"$(local_cluster dir)/cluster.pid"
  descendants "$first"
}

descendants() {
  local child
  printf '%s\n' "$1"
  for child in $(pgrep -P "$1"); do descendants "$child"; done
}

namespaces_of() {
  local pid
  for pid in "$@"; do readlink /proc/"$pid"/ns/{pid,net,mnt,uts}; done 2>/dev/null | sort -u
}

any_alive() {
  local pid
  for pid in "$@"; do
    [[ ! -e /proc/$pid ]] || return 0
  done
  return 1
}

# Whether a process in FROM (a machine, or "client") reaches the agent of node TO.
reaches() {
  local address
  address=$(local_cluster status | awk -v node="$2" '$1 == node {print $3}')
  local -a where=(exec "$1")
  [[ $1 != client ]] || where=(client)
  # shellcheck disable=SC2016  # the inner shell's arguments
  local_cluster "${where[@]}" -- timeout "$answer_s" bash -c ': 2>/dev/null >"/dev/tcp/$1/7202"' reach "$address"
}

# On a busy machine an answer may take its time.
reaches_soon() { wait_until 10000 reaches "$@"; }

pid_of() { local_cluster pid "$1"; }
state_of() { local_cluster status | awk -v node="$1" '$1 == node {print $4}'; }
is_in_state() { [[ $(state_of "$1") == "$2" ]]; }

test_up() {
  local_cluster up --datacenters 2 --nodes 2 --standby --wan 100mbit >/dev/null
  check "a second up is refused" fails local_cluster up
  check "no interface appears in the host's network" diff <(ip -br link) "$scratch/links"
  check "machines have a host name of their own" [ "$(local_cluster exec dc2-n1 -- hostname)" = dc2-n1 ]
  check "machines see their own processes only" fails local_cluster exec dc1-n1 -- pgrep -f dc1-n2
  check "the client reaches every datacenter" reaches_soon client dc2-n2
  check "datacenters reach each other" reaches_soon dc1-n1 dc2-n1
}

test_kill_vm() {
  local before
  before=$(pid_of dc1-n1)
  local_cluster exec dc1-n1 -- sleep 1000 2>/dev/null &
  local inside=$!
  touch "$(local_cluster dir)/vms/dc1-n1/data/kept"
  local_cluster kill-vm dc1-n1
  check "all that ran in a killed machine is dead" fails any_alive "$before"
  check "its commands end" fails wait "$inside"
  check "it is shown as dead" is_in_state dc1-n1 dead
  check "nobody reaches it" fails reaches dc1-n2 dc1-n1
  check "the other machines live" reaches_soon client dc1-n2
  local_cluster start-vm dc1-n1
  local_cluster wait dc1-n1
  check "it is back under its address" reaches_soon dc2-n1 dc1-n1
  check "its disk is what it was" local_cluster exec dc1-n1 -- test -e /data/kept
}

test_kill_process() {
  local before
  before=$(pid_of dc2-n2)
  local_cluster kill-process dc2-n2 agent
  check "the daemon alone is killed" is_in_state dc2-n2 up
  check "a dead daemon has no process id" fails pid_of dc2-n2
  local_cluster start-process dc2-n2 agent
  local_cluster wait dc2-n2
  check "it runs again as another process" [ "$(pid_of dc2-n2)" != "$before" ]
}

test_cuts() {
  local_cluster cut dc1-n2
  check "a machine that is cut off is not reached" fails reaches dc1-n1 dc1-n2
  check "its neighbours are" reaches_soon client dc1-n1
  local_cluster cut dc2
  check "a datacenter that is cut off is not reached" fails reaches dc1-n1 dc2-n1
  check "it reaches nobody" fails reaches dc2-n1 dc1-n1
  check "within it all is well" reaches_soon dc2-n1 dc2-n2
  local_cluster heal dc2
  check "a healed datacenter is reached" reaches_soon client dc2-n1
  check "other cuts stay" fails reaches client dc1-n2
  local_cluster heal
  check "heal ends every cut" reaches_soon client dc1-n2
}

test_down() {
  local -a processes
  mapfile -t processes < <(cluster_processes)
  namespaces_of "${processes[@]}" >"$scratch/namespaces"
  namespaces_of $$ >"$scratch/own"
  local_cluster down
  check "no process is left" fails any_alive "${processes[@]}"
  comm -23 "$scratch/namespaces" "$scratch/own" >"$scratch/made"
  check "machines had namespaces of their own" [ "$(wc -l <"$scratch/made")" -gt 20 ]
  lsns --noheadings --output NS | sed 's/ //g' >"$scratch/left"
  check "no namespace is left" fails grep -qwFf <(tr -dc '0-9\n' <"$scratch/made") "$scratch/left"
  host_traces >"$scratch/after"
  check "no mount, interface, cgroup or folder is left" diff "$scratch/before" "$scratch/after"
}

main() {
  need_root
  need_programs ip lsns pgrep nsenter
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  local_cluster down >/dev/null 2>&1 || true  # what a run that was killed left of the same name
  host_traces >"$scratch/before"
  ip -br link >"$scratch/links"
  test_up
  test_kill_vm
  test_kill_process
  test_cuts
  test_down
}

main "$@"
