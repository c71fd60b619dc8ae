# The programs of a machine: starting, finding, killing and waiting for them. Source it after vm.sh.
# shellcheck shell=bash

readonly program_gone_ms=5000
readonly log_tail_lines=20

# program_of NODE: the one daemon that runs there (empty: none).
program_of() {
  case $(node_field "$1" kind) in
    client) ;;
    *) node_field "$1" kind ;;
  esac
}

# need_program NODE PROGRAM
need_program() {
  need_node "$1"
  [[ ${2:-} == "$(program_of "$1")" ]] || usage_error "no program '${2:-}' on $1: it runs $(program_of "$1")"
}

# daemon_command NODE PROGRAM: its command line, each word ended by a zero byte.
daemon_command() {
  case $2 in
    zookeeper) zookeeper_command "$1" ;;
    master | agent) printf '%s\0' "$bin/houtu-$2" --config "$state/etc/$1-$2.yaml" ;;
  esac
}

start_program() {
  local node=$1 program=$2
  local -a command
  mapfile -d '' -t command < <(daemon_command "$node" "$program")
  in_vm "$node" "$lib/launch.sh" "$state/vms/$node/$program.pid" "$state/vms/$node/$program.log" "${command[@]}"
}

# program_pid NODE PROGRAM: the id by which the host knows it; fails if it is not running.
program_pid() {
  local vm inner start pid
  vm=$(vm_pid "$1") || return 1
  { read -r inner start <"$state/vms/$1/$2.pid"; } 2>/dev/null || return 1
  for pid in $(pgrep --ns "$vm" --nslist pid); do
    [[ $(awk '/^NSpid:/ {print $NF}' "/proc/$pid/status" 2>/dev/null) == "$inner" ]] || continue
    [[ $(start_time "$pid") == "$start" ]] || return 1
    printf '%s\n' "$pid"
    return
  done
  return 1
}

program_stopped() { ! program_pid "$1" "$2" >/dev/null; }

kill_program() {
  local pid
  pid=$(program_pid "$1" "$2") || die "$2 on $1 is not running"
  kill -KILL "$pid"
  wait_until "$program_gone_ms" program_stopped "$1" "$2" || die "$2 on $1 (process $pid) does not end"
}

# ask HOST PORT TEXT: sends it from the client's network, prints the first line and any with "Mode".
ask() {
  # shellcheck disable=SC2016  # the inner shell's arguments
  in_network "$(vm_pid client)" timeout 1 bash -c '
    exec 3<>"/dev/tcp/$1/$2" && printf "%b" "$3" >&3 && head -c 2000 <&3' ask "$@" 2>/dev/null
}

http_status() {
  ask "$1" "$2" "GET $3 HTTP/1.0\r\nHost: $1\r\n\r\n" | awk 'NR == 1 {print $2}'
}

# healthy NODE: the daemon answers. ready NODE: it does its work (ZooKeeper: serves in its ensemble; master:
# leads; agent: registered).
healthy() { probe "$1" /healthz; }
ready() { probe "$1" /readyz; }

probe() {
  local address
  address=$(node_field "$1" address)
  case $(program_of "$1") in
    zookeeper) grep -q '^Mode: ' <<<"$(ask "$address" "$zookeeper_port" srvr)" ;;
    master) [[ $(http_status "$address" "$master_http_port" "$2") == 200 ]] ;;
    agent) [[ $(http_status "$address" "$agent_http_port" "$2") == 200 ]] ;;
  esac
}

# settled CHECK NODE: true as soon as the check is, or the program is dead: then waiting is no use.
settled() { "$1" "$2" || program_stopped "$2" "$(program_of "$2")"; }

# await CHECK NODE: waits, or tells why not.
await() {
  wait_until "$start_timeout_ms" settled "$1" "$2" && "$1" "$2" && return
  report_failure "$2" "$1"
  return 1
}

report_failure() {
  local node=$1 program log
  program=$(program_of "$node")
  log=$state/vms/$node/$program.log
  if program_stopped "$node" "$program"; then
    say "error: $program on $node ended by itself; the end of $log:"
  else
    say "error: $program on $node is not $2 after $((start_timeout_ms / 1000)) s; the end of $log:"
  fi
  tail -n "$log_tail_lines" "$log" >&2 2>/dev/null || true
}

# Some master of the datacenter leads.
datacenter_led() {
  local node
  for node in $(nodes_of master "$1"); do
    ready "$node" && return
  done
  return 1
}

await_leader() {
  wait_until "$start_timeout_ms" datacenter_led "$1" && return
  local node
  for node in $(nodes_of master "$1"); do report_failure "$node" ready; done
  return 1
}
