#!/bin/bash
# Proves the steps of a fresh machine without one: makes a Debian system in a folder, copies the committed
# repository there, and in it installs, builds and runs the unit tests from nothing. Removes all of it afterwards.
#
#   deploy/debootstrap-check.sh SUITE FOLDER      SUITE: bookworm (Debian 12) or trixie (13);
#                                                 FOLDER: does not exist yet, on a disk with 8 GiB free
set -euo pipefail
deploy=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=${deploy%/*}
. "$deploy/lib/log.sh"
. "$deploy/lib/apt.sh"

# in_system COMMAND...: in a mount and process namespace of its own, which take what was mounted and what was
# started with them, however this script ends.
in_system() {
  # shellcheck disable=SC2016  # the inner shell's arguments
  unshare --mount --pid --fork --kill-child bash -euc '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp"
    exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' in_system "$folder" "$@"
}

# The new system gets its packages, and their updates, from where this machine gets its own.
make_system() {
  local mirror
  mirror=$(machine_debian_mirror)
  [[ -n $mirror ]] || die "found no Debian archive in this machine's apt sources"
  unshare --mount debootstrap --variant=minbase --include=ca-certificates "$suite" "$folder" "$mirror" >&2 ||
    die "debootstrap failed: $folder/debootstrap/debootstrap.log"
  printf 'deb %s %s main\n' "$mirror" "$suite" "$mirror" "$suite-updates" >"$folder/etc/apt/sources.list"
  [[ ! -e /etc/resolv.conf ]] || cp -L /etc/resolv.conf "$folder/etc/resolv.conf"
  copy_apt_settings
}

# A proxy, or a certificate of the mirror's, that this machine needs.
copy_apt_settings() {
  apt-config dump --format '%F "%v";%n' Acquire::http::Proxy Acquire::https::Proxy >"$folder/etc/apt/apt.conf.d/90mirror"
}

copy_repository() {
  mkdir -p "$folder/src"
  git -C "$repository" archive HEAD | tar -x -C "$folder/src"
}

main() {
  (($# == 2)) || usage_error "debootstrap-check.sh SUITE FOLDER"
  suite=$1 folder=$(realpath -m -- "$2")
  [[ $suite =~ ^(bookworm|trixie)$ ]] || usage_error "SUITE '$suite': expected bookworm or trixie"
  need_root
  need_programs debootstrap git
  [[ ! -e $folder ]] || die "$folder exists already"
  trap 'rm -rf --one-file-system "$folder"' EXIT
  trap 'exit 130' INT TERM HUP
  SECONDS=0
  make_system
  copy_repository
  in_system /src/deploy/install.sh
  say "installed after $SECONDS s"
  in_system bash -euc 'cd /src && cmake --preset release && ninja -C build/release -j 2'
  say "built after $SECONDS s"
  in_system ctest --test-dir /src/build/release -L unit --output-on-failure --no-tests=error
  say "Debian $suite: installed, built and unit tests passed after $SECONDS s"
}

main "$@"
