#!/bin/bash
# What a newcomer types first works: quickstart.sh runs wordcount over two datacenters, its counts are right, and
# nothing is left of it.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$repository/deploy/lib/log.sh"
scratch=$(mktemp -d)
# Its second run takes under 40 s; this one may build a little, on a busy machine.
readonly quickstart_s=240
trap 'rm -rf "$scratch"' EXIT

check() {
  local sentence=$1
  shift
  "$@" || die "not so: $sentence"
  say "ok: $sentence"
}

main() {
  need_root
  check "quickstart ends well" timeout "$quickstart_s" "$repository/deploy/quickstart.sh" >"$scratch/stdout" 2> >(tee "$scratch/stderr" >&2)
  check "ten words are printed" [ "$(grep -cE '^ *[0-9]+  [A-Za-z]+$' "$scratch/stdout")" = 10 ]
  check "the counts were checked" grep -q "equal those of" "$scratch/stderr"
  check "tasks of both datacenters are in the table" [ "$(awk '$4 ~ /^dc[12]$/ {print $4}' "$scratch/stdout" | sort -u | wc -l)" = 2 ]
  check "bytes that crossed are told" grep -q "dc[12] -> dc[12]: [0-9]" "$scratch/stdout"
  check "nothing of the cluster is left" [ ! -e /tmp/houtu-cluster-quickstart ]
}

main "$@"
