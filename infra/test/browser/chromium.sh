#!/usr/bin/env bash
# Says where Chromium is: what CHROMIUM names, or the system's, which is installed
# where that can be done.
set -euo pipefail

find_it() {
  local name
  for name in ${CHROMIUM:-} chromium chromium-browser google-chrome; do
    command -v "$name" && return
  done
  return 1
}

find_it && exit
if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
  echo "installing Chromium with apt-get" >&2
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >/dev/null
  find_it && exit
fi
echo "Chromium is missing: install the system's package chromium, or name a program like it in CHROMIUM" >&2
exit 1
