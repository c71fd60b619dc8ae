# Certificates and configuration files of a local cluster's machines, under STATE/pki, STATE/etc and
# STATE/client (proto/houtu/v1/config.proto is their schema).
# shellcheck shell=bash

readonly accounts=(analytics guest)

issue_certificate() { "$deploy/pki.sh" issue "$state/pki" "$@"; }

# Certificates of a node, named after it: a master's, or an agent's and that of the job managers it starts.
issue_node_certificates() {
  local node=$1 kind dc address
  kind=$(node_field "$node" kind) dc=$(node_field "$node" dc) address=$(node_field "$node" address)
  case $kind in
    master) issue_certificate "$node" --role "master/$dc" --ip "$address" --dns "$node" ;;
    agent)
      issue_certificate "$node" --role "agent/$dc/$node" --ip "$address" --dns "$node"
      issue_certificate "$node-manager" --role "manager/$dc/$node" --ip "$address" --dns "$node"
      ;;
  esac
}

make_certificates() {
  local name
  "$deploy/pki.sh" init "$state/pki"
  for name in $(nodes_of master) $(nodes_of agent); do issue_node_certificates "$name"; done
  for name in "${accounts[@]}"; do issue_certificate "$name" --role "client/$name"; done
  issue_certificate admin --role admin/root
}

tls_yaml() {
  printf '{ca: "%s/pki/ca.pem", certificate: "%s/pki/%s.pem", key: "%s/pki/%s.key"}' \
    "$state" "$state" "$1" "$state" "$1"
}

zookeeper_yaml() { printf '{servers: %s, session_timeout: %s}' "$(zookeeper_servers_yaml)" "$session_timeout"; }

write_master_config() {
  local node=$1 address
  address=$(node_field "$node" address)
  cat >"$state/etc/$node-master.yaml" <<CONFIG
datacenter: $(node_field "$node" dc)
name: $node
address: "$address:$master_port"
http_address: "$address:$master_http_port"
tls: $(tls_yaml "$node")
zookeeper: $(zookeeper_yaml)
CONFIG
}

write_agent_config() {
  local node=$1 address
  address=$(node_field "$node" address)
  cat >"$state/etc/$node-agent.yaml" <<CONFIG
datacenter: $(node_field "$node" dc)
node: $node
address: "$address:$agent_port"
http_address: "$address:$agent_http_port"
tls: $(tls_yaml "$node")
manager_tls: $(tls_yaml "$node-manager")
zookeeper: $(zookeeper_yaml)
capacity: {cpu: $cpu, memory: $memory}
work_dir: "$state/vms/$node/work"
data_roots: [/data]
output_roots: [/data/out]
image_roots: [/data/images]
cgroup_parent: $(cgroup_parent "$node")
CONFIG
}

# write_client_config NAME: for the account, or the administrator, of that certificate.
write_client_config() {
  local node masters=''
  for node in $(nodes_of master); do
    masters+="${masters:+, }\"$(node_field "$node" address):$master_port\""
  done
  printf 'masters: [%s]\ntls: %s\n' "$masters" "$(tls_yaml "$1")" >"$state/client/$1.yaml"
}

write_configs() {
  local name
  mkdir -p "$state/client"
  for name in $(nodes_of master); do write_master_config "$name"; done
  for name in $(nodes_of agent); do write_agent_config "$name"; done
  for name in "${accounts[@]}" admin; do write_client_config "$name"; done
}

# Names for people; address lookups in a machine must not wait for a name server that it can't reach.
write_hosts() {
  printf '127.0.0.1 localhost\n' >"$state/hosts"
  awk '{print $4, $1}' "$state/nodes" >>"$state/hosts"
}
