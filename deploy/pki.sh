#!/bin/bash
# A small certificate authority for a cluster: EC P-256 keys, the role of each process as a URI name.
#
#   deploy/pki.sh init DIR
#   deploy/pki.sh issue DIR NAME --role ROLE [--ip ADDRESS]... [--dns NAME]... [--days N]
#
# ROLE: master/<dc>, agent/<dc>/<node>, manager/<dc>/<node>, client/<account> or admin/<name>.
# Writes DIR/ca.pem and DIR/ca.key, and DIR/NAME.pem and DIR/NAME.key of each certificate; keys are
# readable by their owner alone.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib/log.sh"

readonly default_days=365
readonly name_pattern='[A-Za-z0-9][A-Za-z0-9._-]*'
readonly role_pattern="^(master|client|admin)/$name_pattern\$|^(agent|manager)/$name_pattern/$name_pattern\$"

# openssl_request ARGUMENTS...: one certificate with a new key. A configuration of our own, so that the
# machine's openssl.cnf adds no extension.
openssl_request() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -batch \
    -config <(printf '[req]\ndistinguished_name = dn\n[dn]\n') "$@" 2>"$errors" ||
    die "openssl failed: $(<"$errors")"
}

init() {
  local dir=$1
  mkdir -p "$dir"
  [[ ! -e $dir/ca.key ]] || die "$dir has a certificate authority already: remove it, or name another folder"
  openssl_request -days "$default_days" -subj '/CN=Houtu cluster CA' -keyout "$dir/ca.key" -out "$dir/ca.pem" \
    -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' -addext 'keyUsage=critical,keyCertSign,cRLSign' \
    -addext 'subjectKeyIdentifier=hash'
}

# The subject's alternative names: role first, then addresses and host names.
issue() {
  local dir=$1 name=$2 role='' days=$default_days names
  shift 2
  local -a hosts=()
  while (($# > 0)); do
    (($# > 1)) || usage_error "$1 needs a value"
    case $1 in
      --role) role=$2 ;;
      --ip) hosts+=("IP:$2") ;;
      --dns) hosts+=("DNS:$2") ;;
      --days) days=$2 ;;
      *) usage_error "unknown argument $1" ;;
    esac
    shift 2
  done
  [[ $role =~ $role_pattern ]] || usage_error "--role '$role': expected" \
    "master/DC, agent/DC/NODE, manager/DC/NODE, client/ACCOUNT or admin/NAME"
  [[ -r $dir/ca.key ]] || die "$dir has no certificate authority: run pki.sh init $dir"
  names=$(IFS=,; printf '%s' "URI:houtu:$role${hosts[*]:+,${hosts[*]}}")
  openssl_request -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -days "$days" -subj "/CN=$name" \
    -keyout "$dir/$name.key" -out "$dir/$name.pem" -addext "subjectAltName=$names" \
    -addext 'basicConstraints=critical,CA:FALSE' -addext 'keyUsage=critical,digitalSignature' \
    -addext 'extendedKeyUsage=serverAuth,clientAuth' -addext 'authorityKeyIdentifier=keyid'
}

main() {
  need_programs openssl
  umask 077
  errors=$(mktemp)
  trap 'rm -f "$errors"' EXIT
  case ${1:-} in
    init) (($# == 2)) || usage_error "pki.sh init DIR" ;;
    issue) (($# >= 3)) || usage_error "pki.sh issue DIR NAME --role ROLE [--ip A]... [--dns N]..." ;;
    *) usage_error "pki.sh init DIR | pki.sh issue DIR NAME --role ROLE [--ip A]... [--dns N]..." ;;
  esac
  "$@"
  chmod 644 "$2"/*.pem
}

main "$@"
