#!/bin/sh
# run.sh FUZZER CORPUS SECONDS PROTO_DIR: fuzzes for that long, from the corpus alone. Seeds that end
# in .txtpb are jobs in text form and are encoded first. What is found is left below
# $HOUTU_FUZZ_ARTIFACTS (default: the working directory), named crash-*, timeout-* or oom-*.
set -eu
fuzzer=$1 corpus=$2 seconds=$3 proto=$4
artifacts=${HOUTU_FUZZ_ARTIFACTS:-.}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/found" "$scratch/seeds"
for seed in "$corpus"/*; do
  case $seed in
    *.txtpb) protoc -I "$proto" --encode=houtu.v1.Job houtu/v1/job.proto < "$seed" \
               > "$scratch/seeds/$(basename "$seed")" ;;
    *.dict) dictionary=$seed ;;
    *) cp "$seed" "$scratch/seeds/" ;;
  esac
done
status=0
"$fuzzer" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=65536 \
  -print_final_stats=1 -artifact_prefix="$artifacts/" \
  ${dictionary:+-dict="$dictionary"} "$scratch/found" "$scratch/seeds" \
  > "$scratch/log" 2>&1 || status=$?
tail -n 60 "$scratch/log"
exit "$status"
