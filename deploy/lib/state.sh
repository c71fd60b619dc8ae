# What a local cluster knows of itself: a folder with its settings and one line for each machine.
#
#   settings      shell assignments, written by "up"; its presence marks the folder as a cluster's
#   nodes         NAME KIND DATACENTER ADDRESS   (KIND: zookeeper, master, agent, client)
#   cluster.pid   PID START of the process that holds all namespaces; killing it ends everything
#   routers/DC.pid, vms/NODE/pid, vms/NODE/PROGRAM.pid, vms/NODE/PROGRAM.log
#   vms/NODE/data, vms/NODE/work   the machine's disk; they outlive kill-vm
#   cuts/NAME     NODE or DC is cut off
#
# A process is named by its id and its start time, so that a reused id never gets a signal of ours.
# shellcheck shell=bash

# The address plan, inside the cluster's own namespaces only. Clusters may share it: nothing joins them.
readonly net_prefix=10.77
readonly datacenters_max=100
readonly nodes_max=200
readonly zookeepers_max=9

readonly zookeeper_port=2181
readonly master_port=7101 master_http_port=7102
readonly agent_port=7201 agent_http_port=7202

dc_index() { printf '%s' "${1#dc}"; }
core_address() { printf '%s.0.%d' "$net_prefix" "$1"; }
dc_address() { printf '%s.%d.%d' "$net_prefix" "$1" "$2"; }

# open_state: reads the settings of the cluster, or says that there is none.
open_state() {
  [[ -r $state/settings ]] || die "no cluster '$cluster' in $state: start it with local-cluster up"
  # shellcheck source=/dev/null
  . "$state/settings"
}

# nodes_of KIND [DC]: names, one a line.
nodes_of() {
  awk -v kind="$1" -v dc="${2:-}" '$2 == kind && (dc == "" || $3 == dc) {print $1}' "$state/nodes"
}

all_nodes() { awk '{print $1}' "$state/nodes"; }
all_datacenters() { awk '$3 != "-" && !seen[$3]++ {print $3}' "$state/nodes"; }

# node_field NAME kind|dc|address
node_field() {
  awk -v name="$1" -v field="$2" '
    $1 == name {print (field == "kind" ? $2 : field == "dc" ? $3 : $4)}' "$state/nodes"
}

need_node() {
  [[ -n ${1:-} ]] || usage_error "which node? one of: $(all_nodes | tr '\n' ' ')"
  [[ -n $(node_field "$1" kind) ]] || die "no node '$1' in cluster '$cluster': $(all_nodes | tr '\n' ' ')"
}

is_datacenter() { grep -qx -- "$1" <<<"$(all_datacenters)"; }

# start_time PID: in clock ticks since boot; fails where there is no such process (a zombie counts as none).
start_time() {
  local line
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
  local -a fields
  read -r -a fields <<<"${line##*) }"
  [[ ${fields[0]} != [ZX] ]] || return 1
  printf '%s' "${fields[19]}"
}

# recorded_pid FILE: the process id, if that very process lives.
recorded_pid() {
  local pid start
  { read -r pid start <"$1"; } 2>/dev/null || return 1
  [[ $(start_time "$pid") == "$start" ]] || return 1
  printf '%s' "$pid"
}

cluster_pid() { recorded_pid "$state/cluster.pid"; }
router_pid() { recorded_pid "$state/routers/$1.pid"; }
vm_pid() { recorded_pid "$state/vms/$1/pid"; }

vm_runs() { vm_pid "$1" >/dev/null; }
process_gone() { ! recorded_pid "$1" >/dev/null; }
