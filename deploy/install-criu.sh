#!/bin/bash
# Sees to it that a CRIU that works on this kernel is there. Kernels since 6.13 need CRIU 4.1 or newer,
# which Debian 12 lacks. Where the system's own criu passes its check, that one is used; else Debian 13's
# is fetched with the libraries that it was built against and laid into a prefix of its own, so that
# nothing of the system changes.
#
#   deploy/install-criu.sh        prints the path of the criu to use
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib/log.sh"
. "$here/lib/apt.sh"

readonly prefix=/opt/houtu/criu
readonly suite=trixie
readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# runc looks for "criu" in PATH: put this folder in front of the agent's PATH.
readonly program=/opt/houtu/bin/criu
readonly check_seconds=20

works() { [[ -x $1 ]] && timeout "$check_seconds" "$1" check >/dev/null 2>&1; }

system_criu() { PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin command -v criu || true; }

# private_apt FOLDER: an apt configuration that knows only the newer suite and no installed package, so that
# the whole closure is fetched and the machine's own apt state stays as it is.
private_apt() {
  local folder=$1 mirror
  mirror=$(machine_debian_mirror)
  [[ -n $mirror ]] || die "found no Debian archive in this machine's apt sources"
  [[ -r $keyring ]] || die "$keyring is missing: install debian-archive-keyring"
  mkdir -p "$folder"/{etc/{apt.conf.d,preferences.d,sources.list.d},lists/partial,cache/archives/partial}
  : >"$folder/status"
  printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >"$folder/etc/sources.list"
  cat >"$folder/apt.conf" <<CONF
Dir::Etc::sourcelist "$folder/etc/sources.list";
Dir::Etc::sourceparts "$folder/etc/sources.list.d";
Dir::Etc::preferencesparts "$folder/etc/preferences.d";
Dir::State "$folder";
Dir::State::lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
APT::Sandbox::User "root";
CONF
}

# The names of criu and of all that it needs, its own C library included.
closure() {
  apt-get -y --no-install-recommends --print-uris install criu libc6 |
    awk -F "[ ']+" '/^\x27/ {split($3, name, "_"); print name[1]}'
}

fetch_and_unpack() {
  local work=$1 into=$2 archive
  local -a names
  export APT_CONFIG="$work/apt.conf"
  apt-get -q update >&2 || die "apt-get update of suite $suite failed"
  mapfile -t names < <(closure)
  ((${#names[@]} > 1)) || die "apt found no criu in suite $suite"
  (mkdir "$work/debs" && cd "$work/debs" && apt-get -q download "${names[@]}" >&2) ||
    die "downloading criu and its libraries failed"
  for archive in "$work"/debs/*.deb; do dpkg -x "$archive" "$into"; done
}

# Makes the program use the loader and the libraries beside it instead of the system's. Debian 13's packages
# hold the loader under usr/lib; its name and folder follow the architecture.
bind_to_prefix() {
  local tree=$1 loader libraries
  loader=$(cd "$tree" && find usr/lib usr/lib64 -name 'ld-linux*.so*' 2>/dev/null | grep -- -linux- | sed -n 1p)
  [[ -n $loader ]] || die "the unpacked C library has no loader"
  libraries=$prefix/$(dirname "$loader")
  patchelf --set-interpreter "$prefix/$loader" --set-rpath "$libraries" --force-rpath "$tree/usr/sbin/criu"
}

install_into_prefix() {
  command -v patchelf >/dev/null || die "patchelf is missing: run deploy/install.sh"
  local work
  work=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder's name now, not at exit
  trap "rm -rf '$work'" EXIT
  say "fetching CRIU of Debian suite $suite into $prefix"
  private_apt "$work"
  mkdir "$work/tree"
  fetch_and_unpack "$work" "$work/tree"
  bind_to_prefix "$work/tree"
  rm -rf "$prefix"
  mkdir -p "${prefix%/*}" "${program%/*}"
  mv "$work/tree" "$prefix"
  chmod 755 "$prefix"
  ln -sfn "$prefix/usr/sbin/criu" "$program"
}

main() {
  need_root
  local candidate
  for candidate in "$(system_criu)" "$program"; do
    works "$candidate" && { printf '%s\n' "$candidate"; return; }
  done
  install_into_prefix
  works "$program" || die "criu from suite $suite does not pass 'criu check' on kernel $(uname -r)"
  printf '%s\n' "$program"
}

main "$@"
