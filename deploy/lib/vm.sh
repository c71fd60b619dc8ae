# Namespaces: the cluster's outermost process, its routers and its machines. Source it after state.sh.
#
# One process namespace holds the whole cluster, and each machine has one of its own inside of that, so that
# the kernel itself ends all that runs in a machine, or in the cluster, with a single kill.
# shellcheck shell=bash

readonly namespace_start_ms=5000
readonly kill_ms=10000
readonly data_mountpoint=/data
# Lies in the mountpoint that we made, under what machines mount over it: "down" may remove the folder then.
readonly mountpoint_mark=$data_mountpoint/.made-by-houtu-local-cluster

start_cluster_namespace() {
  setsid -f unshare --pid --fork --kill-child --net --uts \
    "$lib/namespace-init.sh" router "$state/cluster.pid" "houtu-$cluster" </dev/null >>"$state/cluster.log" 2>&1
  wait_until "$namespace_start_ms" cluster_pid >/dev/null ||
    die "can't make namespaces here: $(tail -n 3 "$state/cluster.log")"
}

# in_cluster COMMAND...: as a child of the cluster's first process, which the command's end leaves behind.
in_cluster() {
  nsenter --target "$(cluster_pid)" --pid -- setsid -f "$@" </dev/null >>"$state/cluster.log" 2>&1
}

# start_network_namespace NAME RECORD: for a router, and for the client, which needs no more than that.
start_network_namespace() {
  mkdir -p "${2%/*}"
  in_cluster unshare --net --uts "$lib/namespace-init.sh" router "$2" "$1"
}

start_vm_namespace() {
  local vm=$state/vms/$1
  mkdir -p "$vm"/{data/out,work}
  rm -f "$vm"/*.pid "$vm/pid"
  in_cluster unshare --pid --fork --kill-child --mount --net --uts \
    "$lib/namespace-init.sh" vm "$vm/pid" "$1" "$vm/data" "$state/hosts"
}

wait_for_namespace() {
  wait_until "$namespace_start_ms" "$1" "$2" >/dev/null ||
    die "namespace of $2 did not start: $(tail -n 3 "$state/cluster.log")"
}

# in_network PID COMMAND...: with the host's files and processes, but that network.
in_network() {
  local pid=$1
  shift
  nsenter --target "$pid" --net -- "$@"
}

# in_vm NODE COMMAND...
in_vm() {
  local pid
  pid=$(vm_pid "$1") || die "machine $1 is not running: start it with local-cluster start-vm $1"
  shift
  PATH=$bin:/opt/houtu/bin:$PATH nsenter --target "$pid" --pid --mount --net --uts -- "$@"
}

# kill_recorded FILE PARENT_CGROUP...: SIGKILL, then waits until it is gone. Frozen processes die only when
# they are thawed, so the cgroups go along.
kill_recorded() {
  local file=$1 pid
  shift
  if pid=$(recorded_pid "$file"); then
    kill -KILL "$pid" 2>/dev/null || true
  fi
  remove_cgroups "$@"
  wait_until "$kill_ms" process_gone "$file" || die "process $pid does not end: see /proc/$pid/stack"
}

make_data_mountpoint() {
  [[ -d $data_mountpoint ]] && return
  mkdir "$data_mountpoint" && : >"$mountpoint_mark" || die "can't make $data_mountpoint, where machines see their data"
}

# Removes the mountpoint if a local cluster made it, nothing else came to lie in it, and no other machine uses it.
drop_data_mountpoint() {
  [[ -e $mountpoint_mark ]] || return 0
  grep -qs " $data_mountpoint " /proc/[0-9]*/mountinfo && return
  [[ $(ls -A "$data_mountpoint") == "${mountpoint_mark##*/}" ]] || return 0
  rm -f "$mountpoint_mark"
  rmdir "$data_mountpoint"
}
