#!/usr/bin/env bash
# Says where a browser is: browser.sh <name> <variable> <package> <program>…
# That is what the variable names, or one of the system's programs; the system's package is
# installed where that can be done.
set -euo pipefail
readonly name=$1 variable=$2 package=$3
shift 3

find_it() {
  local program
  for program in ${!variable:-} "$@"; do
    command -v "$program" && return
  done
  return 1
}

find_it "$@" && exit
if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
  echo "installing $name with apt-get" >&2
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package"; } >/dev/null
  find_it "$@" && exit
fi
echo "$name is missing: install the system's package $package, or name a program like it in $variable" >&2
exit 1
