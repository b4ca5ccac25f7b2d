#!/usr/bin/env bash
# Says where Chromium is, and installs it if necessary. Its headless shell, which has no
# windows, runs the tests in three quarters of the time.
exec "${0%/*}/browser.sh" Chromium CHROMIUM 'chromium-headless-shell chromium' \
  chromium-headless-shell chromium chromium-browser google-chrome
