#!/bin/bash
# What tasks see and what becomes of what they do: exchanges, names, ends, limits, outputs, logs, images.
# shellcheck disable=SC2016  # what stands in single quotes is for the tasks' shells
set -euo pipefail
cluster=ittasks
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# fetch JOB: its outputs in $scratch/out.
fetch() {
  rm -rf "$scratch/out"
  houtu job outputs "$1" --to "$scratch/out" 2>/dev/null
}

# end_with STATUS TEXT COMMAND-AS-YAML [--set ...]: a job of one attempt ends so, and says why.
end_with() {
  local status=$1 text=$2 command=$3
  shift 3
  exits "$status" submit "$jobs/end.yaml" --wait --timeout 60s --set "stages[0].command=$command" "$@" || return 1
  job=$(houtu job list --all -o name | sed -n 1p)
  [[ -z $text ]] || houtu job show "$job" | grep -F -- "$text" >/dev/null || { houtu job show "$job" >&2; return 1; }
}

test_exchanges() {
  check "a job with each exchange succeeds" exits 0 submit "$jobs/exchanges.yaml" --wait --timeout 60s
  fetch exchanges
  local out=$scratch/out
  check "shuffle gives task 1 the files named 1" diff "$out/shuffle/1/0" - <<<$'./source/0 s0.1\n./source/1 s1.1\n./source/2 s2.1'
  check "one_to_one gives task 2 all of task 2" diff "$out/one/2/0" - <<<$'./source/2/0 s2.0\n./source/2/1 s2.1'
  check "gather gives all of all" [ "$(wc -l <"$out/gather/0/0")" = 6 ]
  check "broadcast gives each task all of all" [ "$(cat "$out"/broadcast/[01]/0 | grep -c '/source/')" = 12 ]
}

test_empty_stage() {
  check "a job with an empty stage succeeds" exits 0 submit "$jobs/empty.yaml" --wait --timeout 60s
  check "the empty stage is done with 0 tasks" [ "$(houtu job show empty -o json | jq -c '.status.stages[1] | [.state, .tasks_total // 0]')" = '["STAGE_STATE_SUCCEEDED",0]' ]
  fetch empty
  check "the next stage got no input" [ "$(<"$scratch/out/c/0/0")" = 0 ]
}

test_names() {
  local folder name
  folder=$(machines)/dc1-n1/data/odd
  local -a names=('two words.csv' "it's.csv" 'a(1).csv' 'ü.csv' '-n' 'x;touch y')
  mkdir -p "$folder"
  for name in "${names[@]}"; do echo "$name" >"$folder/$name"; done
  check "a job of odd names succeeds" exits 0 submit "$jobs/names.yaml" --wait --timeout 60s
  fetch "Mårten's run (3)"
  for name in "${names[@]}"; do
    check "a task saw its file as '$name'" [ "$(cat "$scratch"/out/echo/*/"$name")" = "$name" ]
  done
  # shellcheck disable=SC2016  # as the task got it
  check "the environment arrives byte for byte" [ "$(<"$scratch/out/echo/0/msg")" = $'two\nlines of $HOME' ]
  # shellcheck disable=SC2016
  check "arguments arrive byte for byte" [ "$(<"$scratch/out/echo/0/argument")" = 'a b;touch /tmp/y $HOME '"'"'quoted"' ]
  check "no file y appeared" no_file_y
}
no_file_y() { [[ -z $(find "$(machines)" -name y -print -quit 2>/dev/null) && ! -e /tmp/y ]]; }

test_ends() {
  check "exit status 3 fails the job and is told" end_with 1 "exit status 3" '[/bin/sh, -c, "exit 3"]'
  check "a failing task is tried as often as the policy says" retried_once
  check "a missing program is told" end_with 1 "no-such-program" '[/no-such-program]'
  check "a task over its memory is told apart" end_with 1 "memory" '[/bin/sh, -c, "exec tail /dev/zero"]'
  check "a task over its time is told apart" end_with 1 "time" '[/bin/sleep, "60"]' --set 'stages[0].timeout=1s'
  check "a declared output that is missing is a failure" end_with 1 "part" '[/bin/true]' --set 'stages[0].outputs=[part]'
  check "a killed task is told" end_with 1 "signal" '[/bin/sh, -c, "kill -KILL $$"]'
}
retried_once() {
  end_with 1 "" '[/bin/false]' --set 'retry.attempts=2' --set 'retry.backoff=100ms' &&
    [[ $(stage_count "$job" only attempts_failed) == 2 ]]
}

test_isolation() {
  check "a task can't write to the root" end_with 0 "" '[/bin/sh, -c, "! touch /x && ! touch /usr/x"]'
  check "a task has no capabilities" end_with 0 "" '[/bin/sh, -ec, "grep -q ^CapEff:.*0000000000000000 /proc/self/status"]'
  check "a task can't gain privileges" end_with 0 "" '[/bin/sh, -ec, "grep -q ^NoNewPrivs:.*1 /proc/self/status; grep -q ^Seccomp:.*2 /proc/self/status"]'
  check "a task has no network" end_with 0 "" '[/bin/sh, -ec, "[ $(tail -n +3 /proc/net/dev | wc -l) = 1 ]"]'
  check "a task that asks for it has the node's network" end_with 0 "" '[/bin/sh, -ec, "[ $(tail -n +3 /proc/net/dev | wc -l) -gt 1 ]"]' --set 'stages[0].network=host'
  check "a task is no user of the host's" end_with 0 "" '[/bin/sh, -ec, "[ $(id -u) = 0 ] && ! grep -q \" 0 4294967295$\" /proc/self/uid_map"]'
  check "a task sees no process but the container's" end_with 0 "" '[/bin/sh, -ec, "[ $(ls -d /proc/[0-9]* | wc -l) -lt 10 ]"]'
}

# An agent's resident memory in KiB.
agent_memory() { awk '/^VmRSS/ {print $2}' "/proc/$(local_cluster pid "$1")/status"; }

test_logs() {
  local before after node
  before=$(agent_memory dc1-n1)
  check "a task may write 1 GiB without a newline" end_with 0 "" '[/bin/sh, -ec, "head -c 1G /dev/zero | tr \"\\\\0\" x; echo; echo end"]'
  node=$(tasks "$job" .node)
  after=$(agent_memory "$node")
  check "the agent needs less than 64 MiB for it" [ $((after - before)) -lt 65536 ]
  houtu job logs "$job" >"$scratch/log" 2>"$scratch/cut"
  check "the log is cut to its limit" [ "$(stat -c %s "$scratch/log")" -le $((17 << 20)) ]
  check "a line says so" grep -q "not kept" "$scratch/cut"
  check "its end is there" [ "$(tail -n 1 "$scratch/log")" = end ]
  check "NUL and escapes reach a pipe byte for byte" end_with 0 "" '[/bin/sh, -ec, "printf \"a\\\\0b\\\\033[31m\\\\n\""]'
  check "the log of a task that ended is there" [ "$(houtu job logs "$job" 2>/dev/null | od -An -tx1 | tr -d " ")" = 6100621b5b33316d0a ]
}

# An image that is a folder with a static program and its own /etc.
make_image() {
  local folder=$1 root=$scratch/root
  mkdir -p "$root/bin" "$root/etc" "$root/tmp" "$root/proc" "$root/dev" "$root/sys"
  cp "$(command -v busybox)" "$root/bin/busybox"
  ln -s busybox "$root/bin/sh"
  ln -s busybox "$root/bin/cat"
  echo "of the image" >"$root/etc/mark"
  umoci init --layout "$folder" && umoci new --image "$folder:v1" &&
    umoci insert --image "$folder:v1" "$root" / >/dev/null
}

test_image() {
  local node
  make_image "$scratch/image" 2>/dev/null
  for node in dc1-n1 dc1-n2; do
    mkdir -p "$(machines)/$node/data/images"
    cp -r "$scratch/image" "$(machines)/$node/data/images/tiny"
  done
  check "a job runs in an OCI image" end_with 0 "" '[/bin/sh, -ec, "cat /etc/mark > $HOUTU_OUTPUT_DIR/0"]' --set image=oci:/data/images/tiny:v1
  fetch "$job"
  check "it saw the image's files" [ "$(<"$scratch/out/only/0/0")" = "of the image" ]
  check "an image that is not there fails the job" end_with 1 "no-such-image" '[/bin/true]' --set image=oci:/data/images/no-such-image
  check "an image outside the image roots fails the job" end_with 1 "/etc" '[/bin/true]' --set image=oci:/etc
}

# Half a file is no result.
test_outputs_whole() {
  check "a task that dies while it writes leaves nothing" end_with 1 "" '[/bin/sh, -ec, "head -c 20M /dev/zero > $HOUTU_OUTPUT_DIR/0; kill -KILL $$"]'
  check "and no output can be fetched" fails fetch "$job"
  eventually "its leftovers are gone" no_leftovers "$job"
}
no_leftovers() { [[ -z $(find "$(machines)"/*/work -path "*$1*" -size +1M -print -quit 2>/dev/null) ]]; }

# What no machine can ever hold is told at once, and may be cancelled; a datacenter that does not exist is refused.
test_never_fits() {
  job=$(submit "$jobs/one.yaml" --set 'stages[0].resources.memory=4Gi' --id-only)
  eventually "a job shows what no node can hold, and the most that one has" shows_never_fits
  check "it can be cancelled" houtu job cancel "$job"
  check "and is" exits 9 houtu job wait "$job" --timeout 30s
  check "a datacenter that does not exist is refused" exits 6 submit "$jobs/one.yaml" --set 'datacenters=[atlantis]'
  check "by its name" tells atlantis
}
shows_never_fits() { grep -q 'no node .*4Gi.*2Gi' <<<"$(houtu job show "$job")"; }

test_cancel() {
  job=$(submit "$jobs/tick.yaml" --set 'datacenters=[dc1]' --id-only)
  eventually "its tasks run" running_at_least "$job" tick 1
  check "a job is cancelled" houtu job cancel "$job"
  check "a wait for it tells" exits 9 houtu job wait "$job" --timeout 30s
  eventually "its tasks are gone" fails local_cluster exec dc1-n1 -- pgrep -f 'for i in ..seq'
}

test_accounts() {
  job=$(submit "$jobs/one.yaml" --id-only)
  check "another account does not see the job" exits 3 local_cluster client --as guest -- houtu job show "$job"
  check "nor can it cancel it" exits 3 local_cluster client --as guest -- houtu job cancel "$job"
  check "nor read its logs" exits 3 local_cluster client --as guest -- houtu job logs "$job"
  check "an administrator sees it" exits 0 local_cluster client --as admin -- houtu job show "$job"
  check "its owner waits for it" exits 0 houtu job wait "$job" --timeout 60s
}

# A quote, a backslash and a line end in a job's name break no daemon's metrics.
test_metrics() {
  job=$(submit "$jobs/tick.yaml" --set 'name=a"b\c{x="1"} 1' --set 'datacenters=[dc1]' --id-only)
  eventually "the job of an odd name runs" running_at_least "$job" tick 1
  check "the master's metrics are well-formed" metrics_are_sound http://10.77.1.2:7102/metrics
  check "so are an agent's" metrics_are_sound http://10.77.1.11:7202/metrics
  local address
  address=$(manager_http_address)
  check "so are the job manager's" metrics_are_sound "http://$address/metrics"
  check "it tells what it asks for" grep -q '^houtu_job_desire_containers [1-9]' "$scratch/metrics"
  check "it writes fewer multis than tasks end" [ "$(awk '$1 == "houtu_job_record_batches_total" {print int($2)}' "$scratch/metrics")" -gt 0 ]
  check "the job is cancelled" houtu job cancel "$job"
  check "and ends" exits 9 houtu job wait "$job" --timeout 30s
}
metrics_are_sound() {
  local_cluster client -- curl -fsS "$1" >"$scratch/metrics" && promtool check metrics <"$scratch/metrics" >"$scratch/promtool" 2>&1 &&
    [[ ! -s $scratch/promtool ]] && ! grep -q '^x 1' "$scratch/metrics" || { cat "$scratch/promtool" >&2; return 1; }
}
# The HTTP address of a job manager that runs on one of dc1's nodes.
manager_http_address() {
  local node port
  for node in dc1-n1 dc1-n2; do
    for port in $(local_cluster exec "$node" -- ss -Hltnp | awk '/houtu-jobman/ {sub(/.*:/, "", $4); print $4}'); do
      if local_cluster client -- curl -fsS -o /dev/null "http://10.77.1.1${node#dc1-n}:$port/readyz" 2>/dev/null; then
        printf '10.77.1.1%s:%s' "${node#dc1-n}" "$port"
        return
      fi
    done
  done
}

# With arguments: these tests alone.
main() {
  start_cluster --datacenters 2 --nodes 2
  (($# > 0)) || set -- metrics exchanges empty_stage names ends isolation logs image outputs_whole never_fits cancel accounts
  local name
  for name in "$@"; do "test_$name"; done
}

main "$@"
