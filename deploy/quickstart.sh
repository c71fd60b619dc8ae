#!/bin/bash
# From a fresh Debian 12 or 13 machine to a job that runs over two datacenters: installs what is missing,
# builds, starts a local cluster (real daemons, ZooKeeper and containers, a network of its own), counts the words
# of the licence texts that lie spread over its machines, and checks the result.
#
#   deploy/quickstart.sh [--keep]      --keep: leave the cluster up
set -euo pipefail
deploy=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=${deploy%/*}
. "$deploy/lib/log.sh"
. "$deploy/lib/build.sh"

readonly cluster=quickstart
readonly texts=/usr/share/common-licenses
readonly job=wordcount
# One machine has three of seven files, another two, the rest one each.
readonly spread=(dc1-n1 dc1-n1 dc2-n1 dc1-n1 dc2-n1 dc1-n2 dc2-n2)

unset HOUTU_CLUSTER_DIR HOUTU_BIN
keep='' scratch=''

local_cluster() { "$deploy/local-cluster" --name "$cluster" "$@"; }
houtu() { local_cluster client -- houtu "$@"; }
step() { say $'\n'"== $*"; }

clean_up() {
  [[ -z $scratch ]] || rm -rf "$scratch"
  [[ -n $keep ]] || local_cluster down >&2
}

build() {
  step "building (build/release)"
  build_release "$repository" "${programs[@]}" >&2
}

start_cluster() {
  step "starting two datacenters of two machines each"
  local_cluster down 2>/dev/null
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
  local_cluster up --datacenters 2 --nodes 2 >&2
}

# Regular files, links followed; no name comes twice, as all stem from one folder.
spread_texts() {
  step "spreading the texts of $texts over the machines"
  local machines file node i=0
  machines=$(local_cluster dir)/vms
  for node in $(printf '%s\n' "${spread[@]}" | sort -u); do mkdir -p "$machines/$node/data/licenses"; done
  mkdir "$scratch/texts"
  for file in "$texts"/*; do
    [[ -f $file ]] || continue
    cp -L --preserve=mode "$file" "$scratch/texts"
    cp "$scratch/texts/${file##*/}" "$machines/${spread[i++ % ${#spread[@]}]}/data/licenses"
  done
  ((i > 0)) || die "no texts in $texts"
  for node in "$machines"/*/data/licenses; do
    say "  $(basename "${node%/data/licenses}"): $(cd "$node" && echo *)"
  done
}

run_job() {
  step "running examples/wordcount/job.yaml"
  (cd "$repository" && local_cluster client -- houtu-submit "examples/$job/job.yaml" --follow) ||
    die "the job did not succeed (status $?): 'houtu job show $job' tells why; run quickstart.sh --keep to look"
  houtu job outputs "$job" --to "$scratch/outputs" >&2
}

# COUNT WORD of the same files, by the shortest way.
count_here() {
  local file
  for file in "$scratch"/texts/*; do tr -cs A-Za-z '\n' <"$file"; done |
    sed '/^$/d' | LC_ALL=C sort | uniq -c | awk '{print $1, $2}'
}

check_counts() {
  find "$scratch/outputs" -type f -exec cat {} + | LC_ALL=C sort >"$scratch/counted"
  count_here | LC_ALL=C sort >"$scratch/expected"
  if ! diff "$scratch/expected" "$scratch/counted" >"$scratch/difference"; then
    head -n 10 "$scratch/difference" >&2
    die "the job's counts differ from those of tr | sort | uniq -c (< expected, > counted)"
  fi
  step "the counts of $(wc -l <"$scratch/counted") words equal those of tr | sort | uniq -c; the most frequent:"
  # All is read: a reader that stops early ends the writer by SIGPIPE, and by pipefail this program.
  sort -k1,1nr -k2 "$scratch/counted" | awk 'NR <= 10 {printf "%8d  %s\n", $1, $2}'
}

# Which machine ran which task, and for how long.
print_tasks() {
  step "tasks"
  printf '%-8s %4s  %-10s %-8s %s\n' STAGE TASK NODE DC SECONDS
  houtu job show "$job" --tasks -o json | jq -r '
    def seconds: capture("^(?<whole>[^.Z]+)(?<part>[.][0-9]+)?Z$")
      | (.whole + "Z" | fromdateiso8601) + ("0" + (.part // "") | tonumber);
    .tasks[] | [.stage, .task // 0, .node, .datacenter,
      (if .started_at and .ended_at then (.ended_at | seconds) - (.started_at | seconds) else 0 end)] | @tsv' |
    while IFS=$'\t' read -r stage task node dc seconds; do
      LC_ALL=C printf '%-8s %4d  %-10s %-8s %.2f\n' "$stage" "$task" "$node" "$dc" "$seconds"
    done
}

print_transfers() {
  step "bytes that crossed between the datacenters"
  houtu job show "$job" -o json | jq -r '
    (.status // .).transfers // [] | map(select(.from_datacenter != .to_datacenter))
    | if length == 0 then "none" else .[] | "\(.from_datacenter) -> \(.to_datacenter): \(.bytes // 0)" end'
}

print_hints() {
  local command="deploy/local-cluster --name $cluster"
  step "the cluster stays up"
  cat >&2 <<HINTS
  $command client -- houtu node list       its nodes; 'houtu job list' its jobs
  $command client -- houtu-submit FILE --follow
  $command status                          its machines
  $command kill-vm dc2-n1                  a machine dies at once; start-vm dc2-n1 brings it back
  $command cut dc2                         a datacenter is cut off; heal ends that
  $command logs dc1-n1 -f                  what a daemon logs
  $command down                            ends it and removes all of it
HINTS
}

main() {
  case ${1:-} in
    '') ;;
    --keep) keep=yes ;;
    *) usage_error "unknown argument $1: quickstart.sh [--keep]" ;;
  esac
  need_root
  SECONDS=0
  "$deploy/install.sh"
  build
  scratch=$(mktemp -d)
  start_cluster
  spread_texts
  run_job
  check_counts
  print_tasks
  print_transfers
  [[ -z $keep ]] || print_hints
  step "done after $SECONDS s"
}

main "$@"
