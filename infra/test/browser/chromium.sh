#!/usr/bin/env bash
# Says where Chromium is, and installs it if necessary.
exec "${0%/*}/browser.sh" Chromium CHROMIUM chromium chromium chromium-browser google-chrome
