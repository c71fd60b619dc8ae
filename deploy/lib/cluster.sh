# The life of a local cluster: up, down, and what happens to its machines in between.
# shellcheck shell=bash

readonly cpu_default=2 memory_default=2Gi session_timeout_default=6s start_timeout_default_s=20

# need_count NAME VALUE MIN MAX
need_count() {
  [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] && (($2 >= $3 && $2 <= $4)) ||
    usage_error "$1 '$2': expected a number from $3 to $4"
}

parse_up() {
  datacenters=2 nodes=2 zookeepers=1 standby='' wan=''
  cpu=$cpu_default memory=$memory_default session_timeout=$session_timeout_default
  local timeout_s=$start_timeout_default_s
  while (($# > 0)); do
    [[ $1 == --standby ]] && standby=yes && shift && continue
    (($# > 1)) || usage_error "$1 needs a value, or is unknown: see local-cluster --help"
    case $1 in
      --datacenters) datacenters=$2 ;;
      --nodes) nodes=$2 ;;
      --zookeepers) zookeepers=$2 ;;
      --wan) wan=$2 ;;
      --cpu) cpu=$2 ;;
      --memory) memory=$2 ;;
      --session-timeout) session_timeout=$2 ;;
      --timeout) timeout_s=$2 ;;
      *) usage_error "unknown argument $1: see local-cluster --help" ;;
    esac
    shift 2
  done
  need_count --datacenters "$datacenters" 1 "$datacenters_max"
  need_count --nodes "$nodes" 1 "$nodes_max"
  need_count --zookeepers "$zookeepers" 1 "$zookeepers_max"
  need_count --timeout "$timeout_s" 1 3600
  [[ $wan =~ ^([1-9][0-9]*[kmg]?bit)?$ ]] || usage_error "--wan '$wan': expected a rate like 100mbit"
  start_timeout_ms=$((timeout_s * 1000))
}

print_nodes() {
  local i j
  for ((i = 1; i <= zookeepers; i++)); do echo "zk$i zookeeper - $(core_address $((10 + i)))"; done
  for ((i = 1; i <= datacenters; i++)); do
    echo "dc$i-m1 master dc$i $(dc_address "$i" 2)"
    [[ -z $standby ]] || echo "dc$i-m2 master dc$i $(dc_address "$i" 3)"
    for ((j = 1; j <= nodes; j++)); do echo "dc$i-n$j agent dc$i $(dc_address "$i" $((10 + j)))"; done
  done
  echo "client client - $(core_address 2)"
}

# A folder that is not a cluster's is never written into, let alone removed.
need_own_folder() {
  [[ $state != /run/* ]] || die "$state: machines have a /run of their own; name another folder"
  [[ ! -e $state || -e $state/settings || -d $state/logs || -z $(ls -A "$state") ]] ||
    die "$state exists and is not a local cluster's folder: name another with --dir"
}

create_state() {
  bin=$(realpath -m -- "${HOUTU_BIN:-$deploy/../build/bin}")
  local program setting
  for program in houtu-master houtu-agent; do
    [[ -x $bin/$program ]] || die "$bin/$program is missing: build it (cmake --preset release && ninja -C build/release)"
  done
  rm -rf --one-file-system "$state"
  mkdir -p "$state"/{etc,vms}
  for setting in bin wan cpu memory session_timeout start_timeout_ms; do
    printf '%s=%q\n' "$setting" "${!setting}"
  done >"$state/settings"
  print_nodes >"$state/nodes"
  write_hosts
}

# start_machines NAME...: all their namespaces first, then their cables: they start side by side.
start_machines() {
  local name
  for name in "$@"; do start_vm_namespace "$name"; done
  for name in "$@"; do
    wait_for_namespace vm_pid "$name"
    connect "$name"
  done
}

start_zookeepers() {
  local name
  local -a names
  mapfile -t names < <(nodes_of zookeeper)
  start_machines "${names[@]}"
  for name in "${names[@]}"; do
    write_zookeeper_config "$name"
    start_program "$name" zookeeper
  done
}

start_client() {
  start_network_namespace client "$state/vms/client/pid"
  wait_for_namespace vm_pid client
  connect client
}

start_datacenters() {
  local dc
  local -a machines
  for dc in $(all_datacenters); do start_network_namespace "$dc" "$state/routers/$dc.pid"; done
  for dc in $(all_datacenters); do
    wait_for_namespace router_pid "$dc"
    make_dc_network "$dc"
  done
  mapfile -t machines < <(nodes_of master && nodes_of agent)
  start_machines "${machines[@]}"
}

start_daemons() {
  local name
  for name in $(nodes_of zookeeper); do await ready "$name"; done
  for name in $(nodes_of master) $(nodes_of agent); do start_program "$name" "$(program_of "$name")"; done
}

await_daemons() {
  local name
  for name in $(all_datacenters); do await_leader "$name"; done
  for name in $(nodes_of master); do await healthy "$name"; done
  for name in $(nodes_of agent); do await ready "$name"; done
}

# Whatever ends "up" before its time leaves nothing but the logs.
abort_up() {
  local status=$?
  trap - EXIT
  say "error: the cluster did not come up; ending it, its logs are kept"
  cluster_down --keep-logs
  exit "$status"
}

bring_up() {
  local certificates
  make_data_mountpoint
  start_cluster_namespace
  make_core_network
  make_certificates &
  certificates=$!
  start_zookeepers
  start_client
  start_datacenters
  wait "$certificates" || die "making the certificates failed"
  write_configs
  start_daemons
  await_daemons
}

cluster_up() {
  local started
  started=$(now_ms)
  parse_up "$@"
  need_programs ip tc unshare nsenter setsid pgrep java openssl runc awk
  need_own_folder
  ! cluster_pid >/dev/null || die "cluster '$cluster' is up in $state: local-cluster down ends it"
  create_state
  trap abort_up EXIT
  trap 'exit 130' INT TERM HUP
  bring_up
  trap - EXIT INT TERM HUP
  show_status
  show_hints $(($(now_ms) - started))
}

self() {
  printf '%s' "$deploy/local-cluster"
  [[ $cluster == default ]] || printf ' --name %s' "$cluster"
  [[ $state == "/tmp/houtu-cluster-$cluster" ]] || printf ' --dir %q' "$state"
}

show_hints() {
  cat >&2 <<HINTS

cluster '$cluster' is up after $1 ms, in $state
  $(self) client -- houtu node list      talk to it
  $(self) kill-vm dc1-n1                 a machine dies; start-vm brings it back
  $(self) cut dc2                        a datacenter is cut off; heal ends that
  $(self) logs dc1-m1 -f                 watch a daemon
  $(self) down                           end it
HINTS
}

# machine_state NODE: up, cut or dead.
machine_state() {
  if ! vm_runs "$1"; then
    printf dead
  elif [[ -e $state/cuts/$1 || -e $state/cuts/$(node_field "$1" dc) ]]; then
    printf cut
  else
    printf up
  fi
}

show_status() {
  local name dc address program pid
  local line='%-10s %-4s %-15s %-6s %-10s %s\n'
  cluster_pid >/dev/null || die "cluster '$cluster' is not running any more; local-cluster down removes what is left"
  # shellcheck disable=SC2059  # one format for head and rows
  printf "$line" MACHINE DC ADDRESS STATE PROGRAM PROCESS
  while read -r name _ dc address; do
    program=$(program_of "$name")
    pid=$(program_pid "$name" "$program") || pid=-
    # shellcheck disable=SC2059
    printf "$line" "$name" "$dc" "$address" "$(machine_state "$name")" "${program:--}" "$pid"
  done <"$state/nodes"
}

kill_vm() {
  [[ $(node_field "$1" kind) != client ]] || usage_error "the client is no machine"
  kill_recorded "$state/vms/$1/pid" "$(cgroup_parent "$1")"
  disconnect "$1"
}

restart_vm() {
  local node=$1
  [[ $(node_field "$node" kind) != client ]] || usage_error "the client is no machine"
  ! vm_runs "$node" || die "machine $node is running"
  case ${2:-} in
    '') ;;
    --fresh) rm -rf --one-file-system "$state/vms/$node"/{data,work} ;;
    *) usage_error "unknown argument $2" ;;
  esac
  start_machines "$node"
  [[ $(node_field "$node" kind) != zookeeper ]] || write_zookeeper_config "$node"
  start_program "$node" "$(program_of "$node")"
}

start_stopped_program() {
  program_stopped "$1" "$2" || die "$2 on $1 is running"
  start_program "$1" "$2"
}

need_node_or_datacenter() { is_datacenter "$1" || need_node "$1"; }

cut_off() {
  need_node_or_datacenter "$1"
  cut_name "$1"
}

heal() {
  if [[ -n $1 ]]; then
    need_node_or_datacenter "$1"
    heal_name "$1"
    return
  fi
  local cut
  for cut in "$state"/cuts/*; do
    [[ ! -e $cut ]] || heal_name "${cut##*/}"
  done
}

# wait_ready [NODE...]: a master that stands by is healthy, not ready.
wait_ready() {
  local name
  (($# > 0)) || {
    for name in $(nodes_of zookeeper); do await ready "$name"; done
    await_daemons
    return
  }
  for name in "$@"; do
    need_node "$name"
    if [[ $(node_field "$name" kind) == master ]]; then await healthy "$name"; else await ready "$name"; fi
  done
}

keep_logs() {
  local log
  mkdir -p "$state/logs"
  mv "$state/cluster.log" "$state/logs"
  for log in "$state"/vms/*/*.log; do
    [[ ! -s $log ]] || mv "$log" "$state/logs/$(basename "$(dirname "$log")")-${log##*/}"
  done
  find "$state" -mindepth 1 -maxdepth 1 ! -name logs -exec rm -rf --one-file-system {} +
}

cluster_down() {
  [[ ${1:-} =~ ^(--keep-logs)?$ ]] || usage_error "unknown argument $1"
  if [[ ! -e $state/settings ]]; then
    say "no cluster '$cluster' in $state"
    [[ ${1:-} == --keep-logs || ! -d $state/logs ]] || rm -rf --one-file-system "$state"
    return
  fi
  local name
  local -a parents=()
  for name in $(nodes_of agent); do parents+=("$(cgroup_parent "$name")"); done
  kill_recorded "$state/cluster.pid" "${parents[@]}"
  drop_data_mountpoint
  if [[ ${1:-} == --keep-logs ]]; then
    keep_logs
    say "logs: $state/logs"
  else
    rm -rf --one-file-system "$state"
  fi
}
