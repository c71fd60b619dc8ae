# The network of a local cluster, all of it inside the cluster's own namespaces:
#
#   zk1 zk2 .. client            dc1-m1 dc1-n1 ..
#        |  core0 (bridge)            |  lan0 (bridge)
#   core router ----- dc1 == wan ----- router of dc1        == limited by tbf in both directions
#
# Core: 10.77.0.0/24. Datacenter i: 10.77.i.0/24, gateway .1, masters .2 and .3, nodes from .11.
# Links between core and routers: 10.77.255.2i (core) and .2i+1.
# shellcheck shell=bash

# Room for one large segment, so that the limiter never drops what the stack hands it in one piece.
readonly wan_burst=128kb
readonly wan_latency=200ms

wan_core_end() { printf '%s.255.%d' "$net_prefix" $((2 * $1)); }
wan_dc_end() { printf '%s.255.%d' "$net_prefix" $((2 * $1 + 1)); }

make_core_network() {
  in_network "$(cluster_pid)" ip -batch - <<BATCH
link add core0 type bridge
addr add $(core_address 1)/24 dev core0
link set core0 up
BATCH
}

limit_rate() {
  [[ -z $wan ]] || in_network "$1" tc qdisc add dev "$2" root tbf rate "$wan" burst "$wan_burst" latency "$wan_latency"
}

# make_dc_network DC: its bridge, and the link to the core.
make_dc_network() {
  local dc=$1 index router core
  index=$(dc_index "$dc")
  router=$(router_pid "$dc") core=$(cluster_pid)
  in_network "$core" ip link add "$dc" type veth peer name wan netns "$router"
  in_network "$router" ip -batch - <<BATCH
link add lan0 type bridge
addr add $(dc_address "$index" 1)/24 dev lan0
link set lan0 up
addr add $(wan_dc_end "$index")/31 dev wan
link set wan up
route add default via $(wan_core_end "$index")
BATCH
  in_network "$core" ip addr add "$(wan_core_end "$index")/31" dev "$dc"
  open_wan "$dc"
  limit_rate "$core" "$dc"
  limit_rate "$router" wan
}

# The core's route to a datacenter goes with its link and comes back with it.
open_wan() {
  local index
  index=$(dc_index "$1")
  in_network "$(cluster_pid)" ip -batch - <<BATCH
link set $1 up
route replace $(dc_address "$index" 0)/24 via $(wan_dc_end "$index")
BATCH
}

# Packets are swallowed without an answer, as on a broken line: the other side loses its carrier, and the core
# throws away what it would send.
close_wan() {
  in_network "$(cluster_pid)" ip -batch - <<BATCH
link set $1 down
route replace blackhole $(dc_address "$(dc_index "$1")" 0)/24
BATCH
}

# router_of NODE, bridge_of NODE: where a machine's cable ends.
router_of() {
  local dc
  dc=$(node_field "$1" dc)
  if [[ $dc == - ]]; then cluster_pid; else router_pid "$dc"; fi
}
bridge_of() { if [[ $(node_field "$1" dc) == - ]]; then printf core0; else printf lan0; fi; }

gateway_of() {
  local dc
  dc=$(node_field "$1" dc)
  if [[ $dc == - ]]; then core_address 1; else dc_address "$(dc_index "$dc")" 1; fi
}

# The kernel takes its time to remove a dead machine's cable; the name is needed again at once.
disconnect() { in_network "$(router_of "$1")" ip link del "$1" 2>/dev/null || true; }

# A machine that comes back keeps its hardware address, or its neighbours would send to the old one for a while.
hardware_address() {
  local -a octets
  IFS=. read -r -a octets < <(node_field "$1" address)
  printf '02:00:%02x:%02x:%02x:%02x' "${octets[@]}"
}

# connect NODE: a cable from its bridge to its network namespace, where it is eth0.
connect() {
  local node=$1 pid
  pid=$(vm_pid "$node")
  in_network "$(router_of "$node")" ip -batch - <<BATCH
link add $node type veth peer name eth0 address $(hardware_address "$node") netns $pid
link set $node master $(bridge_of "$node")
BATCH
  in_network "$pid" ip -batch - <<BATCH
addr add $(node_field "$node" address)/24 dev eth0
link set eth0 up
route add default via $(gateway_of "$node")
BATCH
  [[ -e $state/cuts/$node ]] || set_port "$node" up
}

# set_port NODE up|down
set_port() { in_network "$(router_of "$1")" ip link set "$1" "$2"; }

cut_name() {
  mkdir -p "$state/cuts"
  : >"$state/cuts/$1"
  if is_datacenter "$1"; then
    close_wan "$1"
  elif vm_runs "$1"; then
    set_port "$1" down
  fi
}

heal_name() {
  rm -f "$state/cuts/$1"
  if is_datacenter "$1"; then
    open_wan "$1"
  elif vm_runs "$1"; then
    set_port "$1" up
  fi
}
