# Debian packages: what is missing, installing it without starting a service, and the mirror that this
# machine itself uses. Source it after log.sh.
# shellcheck shell=bash

# missing_packages NAME...: prints those that dpkg does not have installed.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    awk '$1 == "installed" {print $2}') || true
  comm -13 <(sort -u <<<"$installed") <(printf '%s\n' "$@" | sort -u)
}

# Debian's post-install scripts ask policy-rc.d before they start a service; 101 means no.
forbid_service_starts() {
  policy=/usr/sbin/policy-rc.d
  [[ -e $policy ]] && return
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
}

# Services that came with the packages and that nobody asked for stay off after the next boot too.
disable_new_services() {
  command -v systemctl >/dev/null || return 0
  local service
  for service in "$@"; do
    systemctl disable "$service" >/dev/null 2>&1 || true
  done
}

# install_packages NAME...
install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  forbid_service_starts
  apt-get -q update >&2 || die "apt-get update failed: check the network and /etc/apt"
  apt-get -q install -y --no-install-recommends "$@" >&2 ||
    die "apt-get could not install: $* (its own message stands above)"
}

# machine_debian_mirror: the address from which this machine itself gets Debian's main archive.
machine_debian_mirror() {
  local codename
  codename=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  # shellcheck disable=SC2016  # apt fills in these names
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="$codename" '$1 == release && $2 == "main" {print $3; exit}'
}
