# Control groups of the machines' containers, v1 and v2. They lie in the host's tree, each below its machine's
# own cgroup_parent; nothing else is touched.
# shellcheck shell=bash

readonly cgroup_root=/sys/fs/cgroup
readonly cgroup_clear_ms=5000

cgroup_parent() { printf 'houtu-%s-%s' "$cluster" "$1"; }

# cgroup_folders NAME...: every folder of that name, in each hierarchy.
cgroup_folders() {
  local name
  local -a match=()
  for name in "$@"; do match+=(-o -name "$name"); done
  find "$cgroup_root" -type d \( "${match[@]:1}" \) -prune 2>/dev/null || true
}

# Ends what still lives below a folder: a frozen process takes its SIGKILL only once it is thawed (v1).
kill_in_cgroup() {
  local folder pid
  while read -r folder; do
    [[ ! -e $folder/freezer.state ]] || printf THAWED >"$folder/freezer.state"
    while read -r pid; do
      ((pid == 0)) || kill -KILL "$pid" || true
    done <"$folder/cgroup.procs"
  done < <(find "$1" -type d) 2>/dev/null
}

cgroups_cleared() {
  local folder
  local -a folders
  mapfile -t folders < <(cgroup_folders "$@")
  for folder in "${folders[@]}"; do
    find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || kill_in_cgroup "$folder"
  done
  [[ -z $(cgroup_folders "$@") ]]
}

# remove_cgroups NAME...
remove_cgroups() {
  (($# > 0)) || return 0
  wait_until "$cgroup_clear_ms" cgroups_cleared "$@" || warn "cgroups stay behind: $(cgroup_folders "$@")"
}
