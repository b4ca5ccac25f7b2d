#!/usr/bin/env bash
# Says what `make run` lacks, with the command that installs it, and fails if that stops it.
# Usage: needs.sh GO_VERSION, run in the root of the repository.
set -u

lacks() { printf '  %-28s %s\n' "$1" "$2" >&2; }
install() { # what Debian, Homebrew and others call it
	if command -v apt-get >/dev/null; then echo "sudo apt-get install $1"
	elif command -v brew >/dev/null; then echo "brew install $2"
	else echo "$3"; fi
}
# older VERSION THAN: whether the first is the lower one.
older() { [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

stops=
go=$(GOTOOLCHAIN=local GOFLAGS='' go env GOVERSION 2>/dev/null | sed 's/^go//')
if [ -z "$go" ]; then
	stops=1; lacks "Go $1" "https://go.dev/dl"
elif older "$go" 1.21; then # later ones fetch the version of go.mod by themselves
	stops=1; lacks "Go $1, not $go" "https://go.dev/dl"
fi
if [ -z "${DYNAMODB_ENDPOINT:-}" ]; then
	java=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
	if [ "${java:-0}" -lt 17 ]; then
		stops=1; lacks "Java 17${java:+, not $java}" "$(install openjdk-17-jre-headless openjdk@17 https://adoptium.net)"
	fi
	if ! command -v mvn >/dev/null && [ -z "$(ls -d build/dynamodb-local/*/ 2>/dev/null)" ]; then
		stops=1; lacks "Maven, for DynamoDB Local" "$(install maven maven https://maven.apache.org/install.html)"
	fi
fi
node=$(node --version 2>/dev/null | sed 's/^v//')
if [ -z "$node" ] || older "$node" 20.19.0 || ! command -v npm >/dev/null; then
	lacks "Node.js 20.19${node:+, not $node}, and npm" "https://nodejs.org (without it everything runs except the console)"
fi
if [ -n "$stops" ]; then
	echo "make run lacks what is listed above: install it, and run it again" >&2
	exit 1
fi
[ -d build/programs ] || echo "building; the first time downloads modules, packages and DynamoDB Local, which takes minutes"
