# Building the release programs. Source it after log.sh.
# shellcheck shell=bash

readonly programs=(houtu-master houtu-agent houtu-executor houtu-jobmanager houtu-submit houtu)

# build_release REPOSITORY [TARGET...]: configures where that was never done (ninja does it again by itself where
# it must), and builds; quick where all is up to date.
build_release() {
  local repository=$1
  shift
  [[ -e $repository/build/release/build.ninja ]] || (cd "$repository" && cmake --preset release) ||
    die "cmake could not configure the build"
  ninja -C "$repository/build/release" "$@" || die "the build failed"
}
