#!/bin/bash
# What the documents say is there: links lead somewhere, commands and options exist, job files and configurations are
# valid, metrics are exported. HOUTU_BIN: the folder of the programs (default: build/bin).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. deploy/lib/log.sh

readonly bin=${HOUTU_BIN:-build/bin}
readonly documents=(README.md CONTRIBUTING.md docs/*.md docs/adr/*.md)
failures=0

fail() {
  say "$1: $2"
  failures=$((failures + 1))
}

# --- links

# slugs FILE: what its headings are called in links.
slugs() { sed -n 's/^#\+ //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'; }

check_links() {
  local document=$1 link file anchor
  while read -r link; do
    [[ $link != *://* ]] || continue
    file=${link%%#*} anchor=
    [[ $link != *'#'* ]] || anchor=${link#*#}
    if [[ -n $file ]]; then file=$(dirname "$document")/$file; else file=$document; fi
    if [[ ! -e $file ]]; then
      fail "$document" "the link $link leads nowhere"
    elif [[ -n $anchor ]] && ! grep -qx -- "$anchor" <<<"$(slugs "$file")"; then
      fail "$document" "no heading #$anchor in $file"
    fi
  done < <(grep -oE '\]\([^)[:space:]]+\)' "$document" | sed 's/^](//; s/)$//')
}

# --- commands

# need_options DOCUMENT COMMAND HELP WORD...: every option among the words stands in the help.
need_options() {
  local document=$1 command=$2 help=$3 word
  shift 3
  for word in "$@"; do
    [[ $word != -- ]] || break
    [[ $word != -[a-z]* && $word != --[a-z]* ]] || grep -qE -- "(^|[^-a-z])${word%%=*}([^-a-z]|\$)" <<<"$help" ||
      fail "$document" "$command has no option $word"
  done
}

check_houtu() {
  local document=$1 help
  local -a verbs=()
  shift
  while (($# > 0)) && [[ $1 =~ ^[a-z]+$ ]] && ((${#verbs[@]} < 2)); do
    verbs+=("$1")
    shift
    [[ ${verbs[0]} =~ ^(job|node|dc|config)$ ]] || break
  done
  # For a word that it does not know it prints the help of the words before.
  if help=$("$bin/houtu" "${verbs[@]}" --help 2>&1) && grep -q "^Usage: houtu${verbs[*]:+ ${verbs[*]}} " <<<"$help"; then
    need_options "$document" "houtu ${verbs[*]}" "$help" "$@"
  else
    fail "$document" "no command: houtu ${verbs[*]}"
  fi
}

check_local_cluster() {
  local document=$1
  shift
  while [[ ${1:-} == --* ]]; do shift 2; done
  [[ -n ${1:-} ]] || return 0
  grep -qE "^  $1( |\$)" <<<"$local_cluster_help" || fail "$document" "local-cluster has no command $1"
  need_options "$document" "local-cluster $1" "$local_cluster_help" "${@:2}"
  if [[ $1 == client && ${*:2} == *"-- houtu"* ]]; then
    while [[ $1 != -- ]]; do shift; done
    check_command "$document" "${@:2}"
  fi
}

check_preset() {
  local document=$1
  shift
  while (($# > 1)); do
    [[ $1 != --preset ]] || grep -q "\"name\": \"$2\"" CMakePresets.json || fail "$document" "no preset $2"
    shift
  done
}

# check_command DOCUMENT WORD...
check_command() {
  local document=$1 program=$2
  shift 2
  case $program in
    houtu) check_houtu "$document" "$@" ;;
    houtu-submit) need_options "$document" houtu-submit "$("$bin/houtu-submit" --help)" "$@" ;;
    deploy/local-cluster) check_local_cluster "$document" "$@" ;;
    deploy/* | tests/*)
      [[ -x $program ]] || { fail "$document" "$program is no program" && return; }
      need_options "$document" "$program" "$(<"$program")" "$@"
      ;;
    build/bin/*)
      [[ -x $bin/${program##*/} ]] || { fail "$document" "$program is no program" && return; }
      need_options "$document" "$program" "$("$bin/${program##*/}" --help)" "$@"
      ;;
    cmake | ctest) check_preset "$document" "$@" ;;
    cat | ninja) ;;
    *) fail "$document" "what is the command $program?" ;;
  esac
}

# The lines of fenced sh blocks; a function's definition counts as what stands in its braces.
shell_lines() {
  awk '/^```sh$/ {inside = 1; next} /^```/ {inside = 0} inside' "$1" | sed -E 's/^[a-z]+\(\) \{ (.*); \}$/\1/'
}
# Commands within the text, up to the first word in capitals (a place for something).
inline_commands() { grep -oE '`(houtu|deploy/[a-z.-]+|tests/[a-z/_]+\.sh)( [^`]*)?`' "$1" | tr -d '`'; }

check_commands() {
  local document=$1 line
  local -a words
  while read -r line; do
    read -ra words <<<"$line"
    ((${#words[@]} == 0)) || check_command "$document" "${words[@]}"
  done < <(shell_lines "$document" && inline_commands "$document" | grep -v '\*\|/$')
}

# --- YAML

# What a block of YAML is, by a key that only this kind has.
kind_of() {
  case $(<"$1") in
    'version: houtu/v1'*) echo job ;;
    *work_dir:*) echo agent ;;
    *masters:*) echo client ;;
    *datacenter:*zookeeper:*) echo master ;;
  esac
}

check_yaml() {
  local document=$1 block kind message
  rm -f "$scratch"/*.yaml
  awk -v scratch="$scratch" '
    /^```yaml$/ {file = scratch "/" ++count ".yaml"; next} /^```/ {file = ""} file {print > file}' "$document"
  for block in "$scratch"/*.yaml; do
    [[ -e $block ]] || continue
    kind=$(kind_of "$block")
    [[ -n $kind ]] || { fail "$document" "a block of YAML of no known kind: $(head -n 1 "$block")" && continue; }
    message=$("$bin/houtu" config validate "$block" --kind "$kind" 2>&1) || fail "$document" "$message"
  done
}

# --- metrics

check_metrics() {
  local document=$1 metric
  for metric in $(grep -oE '`houtu_[a-z_]+`' "$document" | tr -d '`' | sort -u); do
    grep -rqF "\"$metric\"" --include='*.cc' common master agent jobmanager || fail "$document" "no metric $metric"
  done
}

main() {
  [[ -x $bin/houtu ]] || die "$bin/houtu is missing: build it first"
  local document
  local_cluster_help=$(deploy/local-cluster --help)
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  for document in "${documents[@]}"; do
    check_links "$document"
    check_commands "$document"
    check_yaml "$document"
    check_metrics "$document"
  done
  ((failures == 0)) || die "$failures faults"
  say "${#documents[@]} documents: links, commands, YAML and metrics are there"
}

main "$@"
