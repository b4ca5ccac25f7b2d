#!/usr/bin/env bash
# Says where a browser is: browser.sh <name> <variable> <packages> <program>…
# That is what the variable names, or the first of the programs that the system has;
# otherwise the first package that the system knows is installed where that can be done.
set -euo pipefail
readonly name=$1 variable=$2 packages=$3
shift 3

find_it() {
  local program
  for program in ${!variable:-} "$@"; do
    command -v "$program" && return
  done
  return 1
}

install_one() {
  local package
  apt-get update
  for package in $packages; do
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package" && return
  done
  return 1
}

find_it "$@" && exit
if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
  echo "installing $name with apt-get" >&2
  install_one >/dev/null || true
  find_it "$@" && exit
fi
echo "$name is missing: install one of the system's packages ($packages), or name a program like it in $variable" >&2
exit 1
