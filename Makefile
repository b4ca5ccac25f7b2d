# Rethread. `make` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

GOLANGCI_VERSION  := v2.15.0
GOTESTSUM_VERSION := v1.13.0
UV_VERSION        := 0.13.9
PYTHON ?= python3

# What is installed once for all clones of a user: CONTRIBUTING.md.
CACHE  ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/rethread
CACHED := go run ./infra/tools/cached -cache $(CACHE)

TOOLS    := $(CURDIR)/.tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
GOTEST   := $(TOOLS)/gotestsum-$(GOTESTSUM_VERSION)
UV       := $(TOOLS)/uv-$(UV_VERSION)
VENV     := $(CURDIR)/.venv
PYTOOLS  := $(VENV)/installed
PYCLIENT := clients/python
VENV_PYCLIENT := $(CURDIR)/$(PYCLIENT)/.venv
PYCLIENTTOOLS := $(VENV_PYCLIENT)/installed $(VENV_PYCLIENT)-1/installed
SUPPLY   := $(TOOLS)/supply
RELEASE  := infra/tools/release
RELEASETOOLS := $(RELEASE)/.venv/installed $(RELEASE)/packages/node_modules/.package-lock.json

# The clients in Go, which are modules of their own.
GO_CLIENTS := clients/go clients/go/adk

# The npm package `rethread`.
PACKAGE      := clients/js
PACKAGEBUILT := $(PACKAGE)/dist/index.js
PACKAGETOOLS := $(PACKAGE)/node_modules/.package-lock.json

WEB        := functions/console/web
PAGE       := $(WEB)/dist/index.html
WEBTOOLS   := $(WEB)/node_modules/.package-lock.json
WEB_SOURCE := $(shell find $(WEB) -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -not -path '*/test/*')
BROWSER    := infra/test/browser
BROWSERTOOLS := $(BROWSER)/node_modules/.package-lock.json
# Front ends of other stacks.
FRONTENDS     := infra/test/frontends
FRONTENDTOOLS := $(FRONTENDS)/node_modules/.package-lock.json

# The official clients that `make test-clients` uses.
CLIENTS     := infra/test/clients
CLIENTTOOLS := $(CLIENTS)/python/.venv/installed $(CLIENTS)/python/.venv-0.3/installed $(CLIENTS)/js/node_modules/.package-lock.json
# The stores that `make bench-peers` compares Rethread with.
PEERS     := infra/bench/peers
PEERTOOLS := $(PEERS)/python/.venv/installed $(PEERS)/python/.venv-llamaindex/installed $(PEERS)/js/node_modules/.package-lock.json
# The generators that `make test-generated` uses.
GENERATED      := $(CLIENTS)/generated
GENERATOR      := $(TOOLS)/openapi-generator-cli.jar
GENERATEDTOOLS := $(GENERATOR) $(CLIENTS)/python/.venv/installed $(GENERATED)/typescript/node_modules/.package-lock.json

FUNCTIONS := $(notdir $(patsubst %/,%,$(wildcard functions/*/)))
PROGRAMS  := build/programs
LOCAL     := build/rethread-local

# The environment that builds functions, here and in `sam build`: the result does not
# depend on the folder or the checkout, so that every build has the same bytes.
LAMBDA_ENV := CGO_ENABLED=0 GOFLAGS="-tags=lambda.norpc -trimpath -buildvcs=false '-ldflags=-s -w'"
# Everything else is compiled with the same flags, so that the build cache is shared.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false

# Whether Node.js is installed and new enough, and the message if it is not.
HAS_NODE := command -v npm >/dev/null && node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || a == 20 && b >= 19 ? 0 : 1)'
GET_NODE := install Node.js 20.19 or newer, with npm (https://nodejs.org)

export SAM_CLI_TELEMETRY := 0
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1
# uv takes Python and the certificates from the machine, as pip does.
export UV_CACHE_DIR := $(CACHE)/uv
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS := 1

.PHONY: help run demo watch doctor chaos redrive build console node check test test-go test-slow test-slow-go test-contract test-python generate-python test-clients test-generated tck open-responses adk-suite test-js test-web test-browser pictures bench-open test-frontends hunt lint fmt fmt-check ci verify validate deploy reproducible sbom vuln licences bench speed meter costs fuzz version release release-files release-check workflows tools clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-14s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: needs
needs:
	@infra/tools/needs/needs.sh "$$(sed -n 's/^go //p' go.mod)"

run: needs build ## Run the whole system: the console on http://127.0.0.1:3000/console, websockets on :3001; Ctrl-C stops it
	@export WATCH_CONCURRENCY=$${WATCH_CONCURRENCY-64} && exec $(LOCAL)

demo: build ## Play a short story through the API (RETHREAD_URL and RETHREAD_WS_URL name a running system)
	@go run ./infra/demo

watch: ## Show a session live: make watch SESSION=… (as RETHREAD_USER, alice by default)
	@go build -o build/rethread-watch ./infra/tools/watch && exec build/rethread-watch

doctor: ## Check the local system, or with STACK=… one in AWS, with advice on each problem; TOKEN=… adds a test session
	@go build -o build/rethread-doctor ./infra/ops/doctor && exec build/rethread-doctor

# The files' hash is the seed of what differs from change to change: a commit and the
# files before it play the same. The seed is printed.
SEED ?= $(shell go run ./infra/tools/steps -seed || echo 1)
MINUTES ?= 2

chaos: build ## Use the system while its database fails and its processes die, and check its promises: SEED=… MINUTES=…
	@go build -o build/rethread-chaos ./infra/chaos && exec build/rethread-chaos -seed $(SEED) -minutes $(MINUTES)

redrive: ## Send dead letters back, locally or with STACK=…: QUEUE=abandoned or failures, DRY=1 only lists, DROP=1 deletes those that cannot be sent
	@go build -o build/rethread-redrive ./infra/ops/redrive && exec build/rethread-redrive

# Steps of `make ci` run beside each other and find everything built.
ifdef BUILT
build: ;
else
build: console ## Build every function's bootstrap and the local host
	@mkdir -p $(PROGRAMS) $(FUNCTIONS:%=build/functions/%)
	@$(LAMBDA_ENV) go build -o $(PROGRAMS)/ ./functions/... ./infra/local
	@for f in $(FUNCTIONS); do ln -sfn ../../programs/$$f build/functions/$$f/bootstrap; done
	@ln -sfn programs/local $(LOCAL)
endif

console: ## Build the console's page, if Node.js is installed
	@if $(HAS_NODE); then $(MAKE) -s --no-print-directory $(PAGE); \
		else echo "the console is not built: to build it, $(GET_NODE)" >&2; fi

node:
	@$(HAS_NODE) || { echo "Node.js is missing or too old: $(GET_NODE)" >&2; exit 1; }

$(PAGE): $(WEBTOOLS) $(PACKAGEBUILT) $(WEB_SOURCE)
	@echo "building the console"
	@cd $(WEB) && npm run --silent build -- --logLevel warn
	@touch $@ $(WEB)/dist/.gitkeep

$(PACKAGEBUILT): $(PACKAGETOOLS) $(wildcard $(PACKAGE)/tsconfig*.json) $(shell find $(PACKAGE)/src -name '*.ts' -not -name schema.ts) infra/openapi.yaml
	@echo "building the npm package"
	@rm -rf $(@D) && cd $(PACKAGE) && npm run --silent build
	@touch $@

# Most tests wait for the engine or for time to pass, hence more of them than cores;
# the end-to-end tests begin first, as they take longest. The linter runs vet.
GO_TEST = $(GOTEST) --format=pkgname-and-test-fails --format-hide-empty-pkg -- -vet=off -p 2 -parallel 6 -timeout=40m
# Go collects garbage less often, which saves a quarter of the processor's time in
# tests that are short of it, and a sixth in compilation.
build check test test-slow reproducible: export GOGC := 400
build check test test-slow reproducible: export GOMEMLIMIT := 512MiB
# As infra/tools/suites prints it for the main module.
RACE = -race -gcflags=compress/flate=-race=false

# The seed of all random tests, so that a commit passes or fails each time.
export PROPERTY_SEED ?= 1

test: build $(GOTEST) ## Test the Go code, with the race detector where memory is shared; random tests have the seed PROPERTY_SEED=1
	@echo "random tests: PROPERTY_SEED=$(PROPERTY_SEED)"
	@$(TEST_TOOLS) && STORE_CASES=few build/engine $(MAKE) -s --no-print-directory test-go

test-slow: build $(GOTEST) ## Run the tests of Go that `make test` leaves out, the models with all cases, and the store's also on DynamoDB Local
	@$(TEST_TOOLS) && build/engine $(MAKE) -s --no-print-directory test-slow-go

# Without DynamoDB Local and the local system, of the models few cases. Generated types
# and frameworks take long to install: pyright belongs to test-python, and the types of
# the pages of other frameworks to test-frontends.
check: node console $(GOTEST) $(BROWSERTOOLS) ## Test what needs neither processes nor the race detector, in a minute: Go, the console's units, and the types of the TypeScript folders
	@$(TEST_TOOLS) && tests=$$(build/suites check) && STORE_CASES=few $(GO_TEST) $$tests
	@for module in $(GO_CLIENTS); do (cd $$module && $(GO_TEST) ./...) || exit 1; done
	@cd $(PACKAGE) && npm run --silent check
	@$(MAKE) -s --no-print-directory test-web

# infra/tools/suites/suite/suites.txt says which tests run where, and why.
TEST_TOOLS = go build -o build/ ./infra/tools/suites ./infra/tools/engine

# The end-to-end tests mostly wait: beside them runs what needs the processor.
test-go:
	@plain=$$(build/suites plain); race=$$(build/suites race); sequential=$$(build/suites sequential); failed=; \
		$(GO_TEST) $$plain & waiting=$$!; \
		CGO_ENABLED=1 $(GO_TEST) $$race || failed=1; \
		for module in $(GO_CLIENTS); do (cd $$module && CGO_ENABLED=1 $(GO_TEST) $(RACE) ./...) || failed=1; done; \
		$(GO_TEST) $$sequential || failed=1; \
		wait $$waiting || failed=1; test -z "$$failed"

test-slow-go:
	@slow=$$(build/suites slow); race=$$(build/suites slow-race); late=$$(build/suites late); sampled=$$(build/suites sampled); \
		dynamodb=$$(build/suites dynamodb); failed=; \
		{ $(GO_TEST) $$late && $(GO_TEST) $$slow; } & waiting=$$!; \
		$(GO_TEST) $$sampled || failed=1; \
		CGO_ENABLED=1 $(GO_TEST) $$race || failed=1; \
		STORE_ENGINE=dynamodb $(GO_TEST) $$dynamodb || failed=1; \
		wait $$waiting || failed=1; test -z "$$failed"

EXAMPLES ?= 100
test-contract: build $(PYTOOLS) ## Send requests generated from infra/openapi.yaml to the running API: SEED=… EXAMPLES=… for each operation
	@go run ./infra/tools/schemathesis -seed $(SEED) -examples $(EXAMPLES) -program $(VENV)/bin/schemathesis -host $(LOCAL)

# The tests that google-adk 1 is used for: those of the services, without ADK's command line.
ADK1_TESTS := $(patsubst %,tests/adk/test_%.py,artifacts concurrency events runner sessions)

test-python: build $(PYCLIENTTOOLS) ## Test the Python package, with each framework and google-adk 2 and 1, against the local system
	@cd $(PYCLIENT) && $(VENV_PYCLIENT)/bin/ruff format --check . && $(VENV_PYCLIENT)/bin/ruff check . \
		&& $(VENV_PYCLIENT)/bin/python tools/generate.py --check && PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(VENV_PYCLIENT)/bin/pyright --pythonpath $(VENV_PYCLIENT)/bin/python \
		&& $(VENV_PYCLIENT)/bin/pytest -q && $(VENV_PYCLIENT)-1/bin/pytest -q $(ADK1_TESTS)

generate-python: $(PYCLIENTTOOLS) ## Write what is generated in the Python package: its types, and the synchronous client and saver
	@$(VENV_PYCLIENT)/bin/python $(PYCLIENT)/tools/generate.py

test-clients: node build $(CLIENTTOOLS) $(PACKAGEBUILT) $(if $(ONLY)$(BUILT),,test-generated) ## Play stories with the official clients against the local system: ONLY= part of a story's name
	@go run ./$(CLIENTS) -only '$(ONLY)'

test-generated: node build $(GENERATEDTOOLS) ## Generate clients from infra/openapi.yaml and play a story with each: LANGUAGE=go, python or typescript
	@go run ./$(GENERATED) -host $(LOCAL) -tools $(TOOLS) -only '$(LANGUAGE)'

tck: build ## Run the A2A TCK: A2A_TCK= the folder of its branch 1.0-dev (or, with TCK_VERSION=0.3, of 0.3.x), TCK_PYTHON= a Python with what it needs
	@test -n "$(A2A_TCK)" || { echo "name the folder of github.com/a2aproject/a2a-tck: A2A_TCK=…" >&2; exit 1; }
	@go run ./$(CLIENTS) -tck '$(A2A_TCK)' -tck-version '$(or $(TCK_VERSION),1.0)' -python '$(or $(TCK_PYTHON),$(PYTHON))'

open-responses: build ## Run the compliance suite of Open Responses: OPEN_RESPONSES= a folder of openresponses/openresponses in which bun is installed
	@test -n "$(OPEN_RESPONSES)" || { echo "name the folder of github.com/openresponses/openresponses: OPEN_RESPONSES=…" >&2; exit 1; }
	@go run ./$(CLIENTS) -open-responses '$(OPEN_RESPONSES)'

test-js: node $(PACKAGEBUILT) ## Type-check the npm package, and test what it is built to
	@cd $(PACKAGE) && npm run --silent check && npm run --silent test

adk-suite: build $(PYCLIENTTOOLS) ## Run ADK's own tests of its services with Rethread's: ADK_TESTS= a folder of google/adk-python, ADK_SUITE_PYTHON= a Python with rethread-client and what they import
	@test -n "$(ADK_TESTS)" || { echo "name the folder of github.com/google/adk-python: ADK_TESTS=…" >&2; exit 1; }
	@cd $(PYCLIENT) && PYTHONPATH=suite '$(or $(ADK_SUITE_PYTHON),$(VENV_PYCLIENT)/bin/python)' -m pytest -q -p adk_suite -c /dev/null \
		-o asyncio_mode=auto --noconftest -W ignore \
		'$(ADK_TESTS)/tests/unittests/sessions/test_session_service.py' '$(ADK_TESTS)/tests/unittests/artifacts/test_artifact_service.py'

test-web: node console $(BROWSERTOOLS) ## Type-check the console's page and its browser tests, run the page's unit tests, and build it within its weight
	@cd $(WEB) && npm run --silent check && npm run --silent test
	@cd $(BROWSER) && npm run --silent check

test-browser: node build $(BROWSERTOOLS) ## Use the console in Chromium and Firefox, against the local system: ONLY= parts of the names of test files; TRACE=1 keeps a trace of what fails
	@CHROMIUM=$$($(BROWSER)/chromium.sh) && FIREFOX=$$($(BROWSER)/firefox.sh) && export CHROMIUM FIREFOX && cd $(BROWSER) && npm run --silent test -- $(ONLY)

pictures: node build $(BROWSERTOOLS) ## Take the pictures of the console for docs/images
	@CHROMIUM=$$($(BROWSER)/chromium.sh) && export CHROMIUM && cd $(BROWSER) && npm run --silent pictures

bench-open: node build $(BROWSERTOOLS) ## Measure how fast the console opens chats of 2, 12 and 2,000 turns in Chromium
	@CHROMIUM=$$($(BROWSER)/chromium.sh) && export CHROMIUM && cd $(BROWSER) && npm run --silent bench

test-frontends: node build $(FRONTENDTOOLS) ## Use the pages of docs/frontends.md, with CopilotKit, assistant-ui and useChat, in Chromium, and clients of another origin in Firefox too
	@cd $(FRONTENDS) && npm run --silent check
	@CHROMIUM=$$($(BROWSER)/chromium.sh) && FIREFOX=$$($(BROWSER)/firefox.sh) && export CHROMIUM FIREFOX && cd $(FRONTENDS) && npm run --silent test

FUZZTIME ?= 10s
fuzz: ## Fuzz every parser: FUZZTIME=10s for each, ONLY= part of a target's name, ONE_IN=3 only a third of them, which one SEED=… says
	@go run ./infra/tools/fuzz -each $(FUZZTIME) -only '$(ONLY)' $(if $(ONE_IN),-one-in $(ONE_IN) -seed $(SEED))

hunt: MINUTES = 10
hunt: node $(PACKAGEBUILT) ## Run the random tests with other seeds for MINUTES=10, and print the seed of a failure; ONLY= part of a package's folder
	@go build -o build/ ./infra/tools/engine ./infra/tools/hunt
	@build/engine build/hunt -minutes $(MINUTES) -only '$(ONLY)'

lint: $(GOLANGCI) ## Lint, including the rules for layers
	$(GOLANGCI) config verify
	$(GOLANGCI) run ./...
	@for module in $(GO_CLIENTS); do (cd $$module && $(GOLANGCI) run ./...) || exit 1; done

fmt: $(GOLANGCI) ## Format the code
	$(GOLANGCI) fmt ./... $(GO_CLIENTS)

fmt-check: $(GOLANGCI) ## Fail if code is not formatted
	$(GOLANGCI) fmt --diff ./... $(GO_CLIENTS)

validate: node console $(PYTOOLS) ## Check the template: sam validate, cfn-lint on the translated template, sam build
	$(VENV)/bin/sam validate --lint --template template.yaml
	@mkdir -p build
	$(VENV)/bin/python infra/tools/translate.py template.yaml > build/template.json
	$(VENV)/bin/cfn-lint --template build/template.json
	$(SAM_BUILD) --build-dir build/sam

SAM_BUILD = $(LAMBDA_ENV) $(VENV)/bin/sam build --build-in-source --template template.yaml

deploy: node console $(PYTOOLS) ## Build for AWS and deploy, asking for parameters; then check the deployment
	$(SAM_BUILD)
	$(VENV)/bin/sam deploy --guided
	@saved() { sed -n "s/^$$1 *= *\"\(.*\)\"$$/\1/p" samconfig.toml 2>/dev/null | head -1 || true; }; \
		stack=$${STACK:-$$(saved stack_name)}; region=$$(saved region); profile=$$(saved profile); \
		test -n "$$stack" || { echo "the name of the stack was not saved: check it with make doctor STACK=…" >&2; exit 1; }; \
		test -z "$$region" || export AWS_REGION=$$region; test -z "$$profile" || export AWS_PROFILE=$$profile; \
		$(MAKE) -s --no-print-directory doctor STACK=$$stack

# The functions for AWS, as a deployment and a release have them.
.PHONY: arm64
arm64: console
	@$(LAMBDA_ENV) GOOS=linux GOARCH=arm64 go build -o build/arm64/ ./functions/...

reproducible: arm64 ## Build every function for AWS in two folders, and fail if the bytes differ
	@rm -rf build/reproducible && mkdir -p build/reproducible/copy
	@tar -cf - --exclude=node_modules go.mod go.sum $(GO_CLIENTS:=/go.mod) functions shared | tar -xf - -C build/reproducible/copy
	@cd build/reproducible/copy && $(LAMBDA_ENV) GOOS=linux GOARCH=arm64 go build -o ../there/ ./functions/...
	@diff -rq build/arm64 build/reproducible/there && echo "both folders build the same bytes"

sbom: build $(SUPPLY)/built ## Write the functions' bill of materials to build/sbom.json (CycloneDX)
	@rm -rf build/sbom && mkdir -p build/sbom
	@version=v0.0.0-$$(git rev-parse --short=12 HEAD); \
		for f in $(FUNCTIONS); do $(SUPPLY)/cyclonedx-gomod bin -json -noserial -notimestamp \
		-version $$version -output build/sbom/$$f.json build/functions/$$f/bootstrap; done
	@go run ./infra/tools/sbom -output build/sbom.json build/sbom/*.json && echo "build/sbom.json is written"

vuln: $(SUPPLY)/built ## Check the functions for known vulnerabilities; needs vuln.go.dev
	@$(SUPPLY)/govulncheck -tags=lambda.norpc ./functions/... || { status=$$?; \
		test $$status = 3 || echo "not checked: the vulnerability database, https://vuln.go.dev, must be reachable" >&2; \
		exit $$status; }

licences: $(SUPPLY)/built ## Fail if a deployed part has a licence that is not allowed
	@go run ./infra/tools/licences -checker $(SUPPLY)/go-licenses ./functions/...

bench: build ## Measure the capacity units of each operation and the delay from token to watcher; write docs/costs.md
	@go run ./infra/bench

speed: ## Compare appends at the store with bare conditional puts at the same concurrency: ONLY=… (the beginning of a scenario's name) PROFILE=… (a file for pprof)
	@go run ./infra/bench -speed $(if $(ONLY),-only "$(ONLY)") $(if $(PROFILE),-profile $(PROFILE))

meter: build ## Measure what whole HTTP requests cost, through the local system, in some 7 minutes (QUICK=1: after 10 turns only); write docs/benchmarks/meter.json, docs/costs.md and the README's tables
	@go run ./infra/bench -meter $(if $(QUICK),-quick)

costs: ## Write docs/costs.md and the tables in the README from what make bench and make meter have recorded
	@go run ./infra/bench -page

.PHONY: bench-peers test-peers
bench-peers: node build $(PEERTOOLS) ## Compare Rethread with other stores in one engine, in some 4 minutes; write docs/benchmarks/peers.json, its plots and docs/costs.md: DRAW=1 only writes these from the data
	@go run ./$(PEERS) $(if $(DRAW),-page)

test-peers: node build $(PEERTOOLS) ## Store and load 10 turns with each store of make bench-peers
	@go run ./$(PEERS) -quick

# The fuzzers' corpora were run by `make test` before.
ci: export FUZZTIME = 5s
ci: export ONE_IN = 3
ci: export EXAMPLES = 30
ci: export BROWSER_RETRIES = 1
PLAYED = build/steps $(if $(CI_ALL),-all)
ci: ## Everything that must pass before a change lands, as infra/tools/steps/budget.json lists it: STEPS= only some; CI_ALL=1 also what has not changed since it passed
	@go build -o build/ ./infra/tools/steps
	@$(MAKE) -s --no-print-directory installed build $(PAGE) STEPS="$$($(PLAYED) -list $(STEPS) | tr '\n' ' ')"
	@BUILT=1 $(PLAYED) $(STEPS)

version: ## Write VERSION=x.y.z to every file that names the version, and move the changelog's unreleased entries to it
	@go run ./$(RELEASE) set -version '$(VERSION)'

release: ## Build and check all that is published as VERSION=x.y.z, in build/release; nothing is published
	@mkdir -p build && go build -o build/rethread-release ./$(RELEASE) && build/rethread-release check -version '$(VERSION)'
	@rm -rf $(PACKAGE)/dist build/arm64
	@$(MAKE) -s --no-print-directory release-files FOLDER=build/release

# Runs a command, and prints its output if it fails.
quietly = out=$$($(1) 2>&1) || { echo "$$out" >&2; exit 1; }

# The time of all files in a release is that of the commit.
release-files: RELEASED = build/rethread-release
release-files: export SOURCE_DATE_EPOCH = $(shell build/rethread-release time)
release-files: node console $(PACKAGEBUILT) $(RELEASETOOLS) $(SUPPLY)/built arm64
	@rm -rf $(FOLDER) build/release-sbom && mkdir -p $(FOLDER)/python build/release-sbom
	@npm pack --silent --pack-destination $(FOLDER) ./$(PACKAGE) >/dev/null
	@$(call quietly,$(RELEASE)/packages/node_modules/.bin/publint run $(FOLDER)/rethread-$(VERSION).tgz --strict)
	@$(call quietly,$(RELEASE)/packages/node_modules/.bin/attw $(FOLDER)/rethread-$(VERSION).tgz --profile esm-only --format ascii)
	@$(call quietly,npm publish --dry-run $(FOLDER)/rethread-$(VERSION).tgz)
	@$(call quietly,$(RELEASE)/.venv/bin/python -m build --no-isolation --outdir $(FOLDER)/python $(PYCLIENT))
	@$(call quietly,$(RELEASE)/.venv/bin/twine check --strict $(FOLDER)/python/*)
	@mv $(FOLDER)/python/* $(FOLDER) && rmdir $(FOLDER)/python
	@for f in $(FUNCTIONS); do $(SUPPLY)/cyclonedx-gomod bin -json -noserial -notimestamp \
		-version v$(VERSION) -output build/release-sbom/$$f.json build/arm64/$$f; done
	@go run ./infra/tools/sbom -output $(FOLDER)/rethread-$(VERSION).sbom.json build/release-sbom/*.json
	@$(RELEASED) bundle -version $(VERSION) -programs build/arm64 -output $(FOLDER)/rethread-aws-$(VERSION).tar \
		LICENSE $(FOLDER)/rethread-$(VERSION).sbom.json
	@$(RELEASED) notes $(DRY) -version $(VERSION) >$(FOLDER)/rethread-$(VERSION).md
	@$(RELEASED) module -version $(VERSION) >$(FOLDER)/rethread-go-$(VERSION).sum
	@$(RELEASED) seal -version $(VERSION) -output $(FOLDER)

release-check: ## Build a release of the current files twice, and fail if the bytes differ; they may be uncommitted
	@mkdir -p build && go build -o build/rethread-release ./$(RELEASE) && build/rethread-release check -dry -version '$(shell cat VERSION)'
	@for folder in one two; do $(MAKE) -s --no-print-directory release-files DRY=-dry VERSION=$(shell cat VERSION) FOLDER=build/release-check/$$folder; done
	@diff -r build/release-check/one build/release-check/two && echo "both builds have the same bytes"

workflows: $(SUPPLY)/built ## Check the workflows in .github
	@$(SUPPLY)/actionlint

verify: ## Check the downloaded modules against go.sum
	@go mod verify
	@for module in $(GO_CLIENTS); do go -C $$module mod verify || exit 1; done

tools: $(GOLANGCI) $(GOTEST) $(PYTOOLS) $(SUPPLY)/built ## Install the pinned tools into .tools and .venv

GO_RELEASE = $(shell go version)

$(GOLANGCI):
	@echo "installing golangci-lint $(GOLANGCI_VERSION); to build it takes a few minutes"
	@$(CACHED) -result $@ -version '$(GO_RELEASE)' -- sh -c 'CGO_ENABLED=0 GOBIN=$(TOOLS)/new go install -trimpath \
		github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) && mv $(TOOLS)/new/golangci-lint $@'

$(GOTEST):
	@$(CACHED) -result $@ -version '$(GO_RELEASE)' -- sh -c 'CGO_ENABLED=0 GOBIN=$(TOOLS)/new go install -trimpath \
		gotest.tools/gotestsum@$(GOTESTSUM_VERSION) && mv $(TOOLS)/new/gotestsum $@'

$(SUPPLY)/built: infra/tools/supply/go.mod infra/tools/supply/go.sum
	@echo "installing the supply tools of infra/tools/supply/go.mod"
	@$(CACHED) -result $(@D) -version '$(GO_RELEASE)' -inputs '$^' -- sh -c \
		'mkdir -p $(@D) && CGO_ENABLED=0 go -C infra/tools/supply build -trimpath -o $(@D)/ tool'
	@touch $@

$(GENERATOR): $(GENERATED)/java/pom.xml
	@echo "fetching openapi-generator with Maven"
	@mvn --batch-mode --quiet --file $< dependency:copy -Dtools=$(@D)
	@touch $@

$(UV):
	@command -v $(PYTHON) >/dev/null || { echo "python3 is missing: install Python 3.11 or newer with venv" >&2; exit 1; }
	@$(CACHED) -result $@ -version uv -- sh -c '$(PYTHON) -m venv $@.new && \
		$@.new/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION) && mv $@.new/bin/uv $@ && rm -r $@.new'

# Each Python environment with its list of pinned packages; those with OWN also get the
# package in clients/python.
PYTHONS := $(PYTOOLS) $(PYCLIENTTOOLS) $(RELEASE)/.venv/installed $(filter %/installed,$(CLIENTTOOLS) $(PEERTOOLS))
$(PYTOOLS): infra/tools/requirements.txt
$(VENV_PYCLIENT)/installed: $(PYCLIENT)/requirements.txt
$(VENV_PYCLIENT)-1/installed: $(PYCLIENT)/requirements-1.txt
$(RELEASE)/.venv/installed $(CLIENTS)/python/.venv/installed $(PEERS)/python/.venv/installed: %/.venv/installed: %/requirements.txt
$(CLIENTS)/python/.venv-0.3/installed: $(CLIENTS)/python/requirements-0.3.txt
$(PEERS)/python/.venv-llamaindex/installed: $(PEERS)/python/requirements-llamaindex.txt
$(PYCLIENTTOOLS) $(PEERS)/python/.venv/installed: $(PYCLIENT)/pyproject.toml
$(PYCLIENTTOOLS) $(PEERS)/python/.venv/installed: OWN = -e $(PYCLIENT)
$(VENV_PYCLIENT)-1/installed: OPTIONS = --no-deps

$(PYTHONS): | $(UV)
	@echo "installing the packages of $<"
	@$(UV) venv --quiet --clear --python $(PYTHON) $(@D)
	@$(UV) pip install --quiet --python $(@D) $(OPTIONS) -r $<
	@$(if $(OWN),$(UV) pip install --quiet --python $(@D) --no-deps $(OWN))
	@touch $@

PACKAGE_LISTS := $(PACKAGETOOLS) $(WEBTOOLS) $(BROWSERTOOLS) $(FRONTENDTOOLS) $(RELEASE)/packages/node_modules/.package-lock.json \
	$(filter %.json,$(CLIENTTOOLS) $(PEERTOOLS) $(GENERATEDTOOLS))
$(PACKAGE_LISTS): %/node_modules/.package-lock.json: %/package-lock.json
	@echo "installing the packages of $<"
	@$(CACHED) -result $(@D) -version "node $$(node --version), npm $$(npm --version)" -inputs '$*/package.json $<' -- \
		npm --prefix $* ci --loglevel=error --no-audit --no-fund
	@touch $@

# What the STEPS of `make ci` need: tools are compiled while packages are downloaded.
.PHONY: installed installed-tools installed-packages
installed:
	@$(MAKE) -s --no-print-directory installed-tools & tools=$$!; \
		$(MAKE) -s --no-print-directory installed-packages || { kill $$tools; exit 1; }; wait $$tools
installed-tools: $(GOLANGCI) $(GOTEST) $(SUPPLY)/built
ofstep = $(if $(filter $(1),$(STEPS)),$(2))
installed-packages: $(PYTOOLS) $(PACKAGETOOLS) $(WEBTOOLS) $(BROWSERTOOLS) $(call ofstep,test-python,$(PYCLIENTTOOLS)) \
	$(call ofstep,test-clients,$(CLIENTTOOLS)) $(call ofstep,test-generated,$(GENERATEDTOOLS)) $(call ofstep,test-frontends,$(FRONTENDTOOLS)) \
	$(call ofstep,test-peers,$(PEERTOOLS)) $(call ofstep,release-check,$(RELEASETOOLS))

clean: ## Remove build results and local data; installed tools stay
	rm -rf build $(PACKAGE)/dist .aws-sam .hypothesis .schemathesis schemathesis-report $(BROWSER)/results
	find $(WEB)/dist -mindepth 1 -not -name .gitkeep -delete
