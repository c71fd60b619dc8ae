#!/bin/bash
# First process of a namespace of the local cluster: a router, the client's network, or a machine ("VM").
# It records itself, sets its namespaces up, and then only reaps. Run by vm.sh.
#
#   namespace-init.sh router RECORD NAME
#   namespace-init.sh vm     RECORD NAME DATA_FOLDER HOSTS_FILE
set -euo pipefail
kind=$1 record=$2 name=$3

# /proc is still the one of the caller: it tells the id by which the caller knows this process.
read -r -a stat </proc/self/stat

prepare_network() {
  printf '%s' "$name" >/proc/sys/kernel/hostname
  ip link set lo up
  printf 1 >/proc/sys/net/ipv4/ip_forward
  [[ ! -e /proc/sys/net/ipv6 ]] || printf 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
}

# A machine sees the host's file system but for its own processes, /run, /data and names.
prepare_mounts() {
  mount -t proc proc /proc
  mount -t tmpfs -o mode=755 tmpfs /run
  mount --bind "$1" /data
  mount --bind "$2" /etc/hosts
}

# As the first process of a process namespace bash reaps every orphan while it waits.
reap_for_ever() {
  trap : TERM INT HUP
  while :; do
    sleep 3600 &
    wait "$!" || true
  done
}

prepare_network
[[ $kind != vm ]] || prepare_mounts "$4" "$5"
printf '%s %s\n' "${stat[0]}" "${stat[21]}" >"$record.new"
mv "$record.new" "$record"
reap_for_ever
