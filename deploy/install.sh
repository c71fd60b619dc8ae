#!/bin/bash
# Installs what Houtu needs on Debian 12 or 13, from Debian's own packages. Run it as root, as often as you
# like: it does nothing where all is there.
#
#   deploy/install.sh             all: build, test and run
#   deploy/install.sh --build     what building and the unit tests need
#   deploy/install.sh --runtime   what running needs: no compiler, no headers
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib/log.sh"
. "$here/lib/apt.sh"

# These names are the same in Debian 12 and 13.
build_packages=(
  build-essential cmake ninja-build ccache mold pkg-config git
  libgrpc++-dev protobuf-compiler-grpc protobuf-compiler libprotobuf-dev libabsl-dev
  libzookeeper-mt-dev prometheus-cpp-dev libcivetweb-dev libyaml-cpp-dev libcli11-dev
  libspdlog-dev libfmt-dev nlohmann-json3-dev libzstd-dev libssl-dev libseccomp-dev
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev libglpk-dev
  clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev shellcheck busybox-static curl
)
# ZooKeeper's server is in libzookeeper-java; the package zookeeper would add a desktop Java to it.
runtime_packages=(
  libzookeeper-java default-jre-headless runc umoci skopeo iproute2 procps util-linux openssl jq patchelf
  ca-certificates prometheus
)
# The shared libraries that the programs load: where headers are installed they came with them.
common_library_packages=(libzookeeper-mt2 libcivetweb1 libprometheus-cpp-core1.0 libseccomp2 libzstd1)
debian_12_library_packages=(libgrpc++1.51 libprotobuf32 libabsl20220623 libyaml-cpp0.7 libspdlog1.10 libfmt9)
debian_13_library_packages=(libgrpc++1.51t64 libprotobuf32t64 libabsl20240722 libyaml-cpp0.8 libspdlog1.15 libfmt10)

library_packages() {
  printf '%s\n' "${common_library_packages[@]}"
  if [[ $debian == 13 ]]; then
    printf '%s\n' "${debian_13_library_packages[@]}"
  else
    printf '%s\n' "${debian_12_library_packages[@]}"
  fi
}

packages_for() {
  case $1 in
    all) printf '%s\n' "${build_packages[@]}" "${runtime_packages[@]}" ;;
    build) printf '%s\n' "${build_packages[@]}" ;;
    runtime) printf '%s\n' "${runtime_packages[@]}" && library_packages ;;
  esac
  # Debian 12's is too old: install-criu.sh sees to that.
  [[ $1 == build || $debian == 12 ]] || printf 'criu\n'
}

check_system() {
  need_root
  local ID='' VERSION_ID='' PRETTY_NAME=''
  # shellcheck source=/dev/null
  . /etc/os-release
  [[ $ID == debian && $VERSION_ID =~ ^1[23]$ ]] ||
    warn "made for Debian 12 and 13; this is ${PRETTY_NAME:-unknown}: package names may differ"
  debian=$VERSION_ID
}

main() {
  local what=all
  local -a wanted missing
  case ${1:-} in
    '') ;;
    --runtime | --build) what=${1#--} ;;
    *) usage_error "unknown argument $1: install.sh [--runtime|--build]" ;;
  esac
  check_system
  mapfile -t wanted < <(packages_for "$what")
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  if ((${#missing[@]} > 0)); then
    say "installing ${#missing[@]} packages: ${missing[*]}"
    install_packages "${missing[@]}"
    disable_new_services prometheus prometheus-node-exporter
  fi
  [[ $what == build ]] && return
  "$here/install-criu.sh" >/dev/null || warn "no working CRIU: checkpoints will not be available on this machine"
}

main "$@"
