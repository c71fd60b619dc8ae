# Messages and checks that every script of deploy/ shares. Source it; it runs nothing.
# stdout is data; what people read goes to stderr.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
# A wrong command line: status 2, as everywhere in Houtu.
usage_error() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

need_root() { ((EUID == 0)) || die "${0##*/} must run as root (it makes namespaces or installs packages)"; }

need_programs() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || die "program $program is missing: run deploy/install.sh first"
  done
}

# now_ms: milliseconds of the wall clock, without starting a process.
now_ms() {
  local seconds=${EPOCHREALTIME/[^0-9]/}
  printf '%s' "${seconds%???}"
}

# wait_until MILLISECONDS COMMAND...: polls COMMAND until it succeeds; fails when the time is over.
wait_until() {
  local deadline=$(($(now_ms) + $1))
  shift
  until "$@"; do
    (($(now_ms) < deadline)) || return 1
    read -r -t 0.02 <> <(:) || true  # a pause without a process of its own
  done
}
