#!/bin/bash
# Starts a daemon inside a machine and leaves it to the machine's first process. Run by daemons.sh.
#
#   launch.sh RECORD LOG COMMAND...      RECORD gets the id inside the machine, and the start time
set -euo pipefail
record=$1 log=$2
shift 2
cd /
setsid "$@" </dev/null >>"$log" 2>&1 &
pid=$!
# No such process any more: it failed at once, which the caller sees from the same record.
read -r line <"/proc/$pid/stat" || line='0 (gone) X'
read -r -a fields <<<"${line##*) }"
printf '%s %s\n' "$pid" "${fields[19]:-0}" >"$record"
