#!/usr/bin/env bash
# Says where Firefox is, and installs it if necessary.
exec "${0%/*}/browser.sh" Firefox FIREFOX firefox-esr firefox-esr firefox
