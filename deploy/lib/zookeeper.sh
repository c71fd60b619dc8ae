# ZooKeeper servers of a local cluster: Debian's jars, small heaps, a data folder of their own, short ticks so
# that sessions of 2 s are possible. Every write is still forced to disk before it is answered.
# shellcheck shell=bash

readonly zookeeper_jars=/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar
readonly zookeeper_main=org.apache.zookeeper.server.quorum.QuorumPeerMain
readonly zookeeper_tick_ms=500
readonly zookeeper_fsync_warning_ms=1000
# A short-lived small JVM: the first compiler and the simple collector start quickest.
readonly zookeeper_jvm=(
  -Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto
  "-Dzookeeper.preAllocSize=1024" "-Dzookeeper.fsync.warningthresholdms=$zookeeper_fsync_warning_ms"
  -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -Dorg.slf4j.simpleLogger.showDateTime=true
  "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSZ"
)

zookeeper_ensemble() {
  local name
  local -a names
  mapfile -t names < <(nodes_of zookeeper)
  ((${#names[@]} > 1)) || return 0
  for name in "${names[@]}"; do
    printf 'server.%d=%s:2888:3888\n' "${name#zk}" "$(node_field "$name" address)"
  done
}

# write_zookeeper_config NODE
write_zookeeper_config() {
  local data=$state/vms/$1/work
  mkdir -p "$data"
  printf '%s\n' "${1#zk}" >"$data/myid"
  cat >"$state/etc/$1-zookeeper.cfg" <<CONFIG
tickTime=$zookeeper_tick_ms
minSessionTimeout=$((2 * zookeeper_tick_ms))
maxSessionTimeout=60000
initLimit=20
syncLimit=6
dataDir=$data
clientPort=$zookeeper_port
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=srvr,ruok
autopurge.snapRetainCount=3
autopurge.purgeInterval=1
$(zookeeper_ensemble)
CONFIG
}

zookeeper_command() {
  printf '%s\0' java "${zookeeper_jvm[@]}" -cp "$zookeeper_jars" "$zookeeper_main" "$state/etc/$1-zookeeper.cfg"
}

# host:port of every server, as a YAML list.
zookeeper_servers_yaml() {
  local name list=''
  for name in $(nodes_of zookeeper); do
    list+="${list:+, }\"$(node_field "$name" address):$zookeeper_port\""
  done
  printf '[%s]' "$list"
}
