#!/bin/bash
# Checks what no compiler checks: the format of every C++ file (clang-format), bugs, waste and names (clang-tidy, by
# .clang-tidy), and the shell scripts (shellcheck). A file that clang-tidy found right is not read again until it, a
# header that it includes, its command line or .clang-tidy changes: BUILD/lint remembers.
#
#   tests/lint/lint.sh [--all] [BUILD]      BUILD: a folder that was built (default: build/release)
#
# clang-tidy needs seconds for each file. So the test reads the libraries that decide (pure code, where a bug costs
# most); --all reads every file.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$repository/deploy/lib/log.sh"

readonly format=clang-format-19 tidy=clang-tidy-19
readonly skipped=77
readonly cache_days=30
readonly folders=(common master agent jobmanager client tests)
readonly pure=(
  common/base common/yaml common/jobspec common/records master/allocator master/core agent/core
  jobmanager/core jobmanager/assignment jobmanager/desire jobmanager/inputs jobmanager/placement
)
# What these find in a file that is sourced is in truth elsewhere: names that cross files, and paths made of variables.
readonly shell_exclude=SC1090,SC1091,SC2034,SC2154

# files PATTERN...: those of git, or, in a copy without git, those that lie there. The patterns name files by their ends.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -- "$@"
  else
    local pattern
    for pattern in "$@"; do find "${folders[@]}" deploy -type f -name "$pattern"; done | sort
  fi
}

check_format() {
  files '*.cc' '*.h' | xargs -d '\n' "$format" --dry-run -Werror
}

check_shell() {
  { files '*.sh' && printf '%s\n' deploy/local-cluster .ci/run; } >"$scratch/scripts"
  xargs -d '\n' shellcheck --severity=warning --exclude="$shell_exclude" <"$scratch/scripts" || return
  # A reader that stops early ends the writer by SIGPIPE: by pipefail the whole pipeline fails, now and then.
  if xargs -d '\n' grep -nE '[^|]\|[[:space:]]*(head|grep -[a-zA-Z]*q|grep -m)[[:space:]]' <"$scratch/scripts"; then
    say "a pipe ends in a program that stops reading early: use sed -n, awk, or grep -q PATTERN <<<\"\$(COMMAND)\""
    return 1
  fi
}

# compile_lines: "SOURCE OBJECT COMMAND" of each of our sources below the given folders, from CMake's list.
compile_lines() {
  awk -v root="$repository/" -v folders="$*" '
    BEGIN { count = split(folders, wanted, " ") }
    /^  "command": / { command = $0; match($0, / -o [^ ]+/); object = substr($0, RSTART + 4, RLENGTH - 4) }
    /^  "file": / {
      split($0, part, "\""); source = part[4]
      for (i = 1; i <= count; i++)
        if (index(source, root wanted[i] "/") == 1) print source, object, command
    }' "$build/compile_commands.json"
}

# keys: "KEY SOURCE" of each line of compile_lines; the key stands for all that clang-tidy reads. What was never built
# has no list of headers, and is read each time.
keys() {
  local common
  common=$({ "$tidy" --version && cat .clang-tidy; } | sha256sum)
  ninja -C "$build" -t deps >"$scratch/deps"
  { sed -n 's/^    //p' "$scratch/deps" && cut -d' ' -f1 "$scratch/lines"; } | sort -u >"$scratch/read"
  (cd "$build" && xargs -d '\n' sha256sum <"$scratch/read" >"$scratch/sums" 2>/dev/null) || true  # some may be gone
  mkdir "$scratch/parts"
  awk -v scratch="$scratch" -v common="$common" -v now="$EPOCHREALTIME" '
    FILENAME == scratch "/sums" { sum[substr($0, 67)] = $1; next }
    FILENAME == scratch "/deps" && /^[^ ]/ { object = $1; sub(/:$/, "", object); next }
    FILENAME == scratch "/deps" { if (NF) headers[object] = headers[object] sum[$1] "\n"; next }
    {
      part = sprintf("%s/parts/%06d", scratch, ++count)
      print common, $0, sum[$1], ($2 in headers ? headers[$2] : now) > part
      close(part)
    }' "$scratch/sums" "$scratch/deps" "$scratch/lines"
  paste -d' ' <(sha256sum "$scratch"/parts/* | cut -d' ' -f1) <(cut -d' ' -f1 "$scratch/lines")
}

# tidy_one KEY SOURCE: remembered only if nothing was found.
tidy_one() {
  "$tidy" -p "$build" --quiet "$2" 2>"$scratch/$1.err" && : >"$cache/$1" && return
  grep -v 'warnings generated' "$scratch/$1.err" >&2
  return 1
}

check_tidy() {
  local key source all
  compile_lines "$@" >"$scratch/lines"
  [[ -s $scratch/lines ]] || die "$build/compile_commands.json names none of our files: build it first"
  keys | while read -r key source; do
    if [[ -e $cache/$key ]]; then touch "$cache/$key"; else printf '%s\n' "$key" "$source"; fi
  done >"$scratch/todo"
  all=$(wc -l <"$scratch/lines")
  say "clang-tidy: $(($(wc -l <"$scratch/todo") / 2)) of $all files are new or changed"
  export -f tidy_one
  export tidy build scratch cache
  xargs -d '\n' -r -n 2 -P "$(nproc)" bash -c 'tidy_one "$@"' tidy_one <"$scratch/todo"
}

main() {
  local -a where=("${pure[@]}")
  local failed=''
  if [[ ${1:-} == --all ]]; then
    where=("${folders[@]}")
    shift
  fi
  (($# <= 1)) && [[ ${1:-} != -* ]] || usage_error "lint.sh [--all] [BUILD]"
  cd "$repository"
  build=$(realpath -- "${1:-build/release}") cache=$build/lint
  local program
  for program in "$format" "$tidy" shellcheck; do
    command -v "$program" >/dev/null || { say "skipped: no $program (deploy/install.sh --build)"; exit "$skipped"; }
  done
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  mkdir -p "$cache"
  find "$cache" -type f -mtime "+$cache_days" -delete
  renice -n 10 $$ >/dev/null
  check_format || failed+=" format"
  check_shell || failed+=" shell"
  check_tidy "${where[@]}" || failed+=" clang-tidy"
  [[ -z $failed ]] || die "found by:$failed"
}

main "$@"
