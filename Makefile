# Rethread. `make` alone lists what there is.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

GOLANGCI_VERSION  := v2.15.0
GOTESTSUM_VERSION := v1.13.0
PYTHON ?= python3

TOOLS    := $(CURDIR)/.tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
GOTEST   := $(TOOLS)/gotestsum-$(GOTESTSUM_VERSION)
VENV     := $(CURDIR)/.venv
PYTOOLS  := $(VENV)/installed
ADK      := clients/python
VENV_ADK := $(CURDIR)/$(ADK)/.venv-adk
ADKTOOLS := $(VENV_ADK)/installed
SUPPLY   := $(TOOLS)/supply

WEB        := functions/console/web
PAGE       := $(WEB)/dist/index.html
WEBTOOLS   := $(WEB)/node_modules/.package-lock.json
WEB_SOURCE := $(shell find $(WEB) clients/js -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -not -path '*/test/*')
BROWSER    := infra/test/browser
BROWSERTOOLS := $(BROWSER)/node_modules/.package-lock.json

FUNCTIONS := $(notdir $(patsubst %/,%,$(wildcard functions/*/)))
PROGRAMS  := build/programs
LOCAL     := build/rethread-local

# What a function is built with, here and in `sam build`: nothing of the folder or
# the checkout gets in, so that everybody builds the same bytes.
LAMBDA_ENV := CGO_ENABLED=0 GOFLAGS="-tags=lambda.norpc -trimpath -buildvcs=false '-ldflags=-s -w'"
# All else is compiled in the same way, so that what is compiled once serves all.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false

# Whether Node.js is there and new enough; what to say where it is not.
HAS_NODE := command -v npm >/dev/null && node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || a == 20 && b >= 19 ? 0 : 1)'
GET_NODE := install Node.js 20.19 or newer, with npm (https://nodejs.org)

export SAM_CLI_TELEMETRY := 0
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1

.PHONY: help run demo watch doctor chaos redrive build console node test test-go test-contract test-python test-web test-browser lint fmt fmt-check ci verify validate deploy reproducible sbom vuln licences bench costs fuzz tools clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-14s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Start everything here: the console on http://127.0.0.1:3000/console, websockets on :3001; Ctrl-C stops it
	@exec $(LOCAL)

demo: build ## Tell a short story through the API (RETHREAD_URL and RETHREAD_WS_URL name a running system)
	@go run ./infra/demo

watch: ## Show a session as it happens: make watch SESSION=… (RETHREAD_USER says as whom, alice by default)
	@go build -o build/rethread-watch ./infra/tools/watch && exec build/rethread-watch

doctor: ## Examine the system that runs here, or with STACK=… one in AWS: what is wrong, and what to do; TOKEN=… tries a session
	@go build -o build/rethread-doctor ./infra/ops/doctor && exec build/rethread-doctor

# Each commit takes another of twenty seeds, so that what is tried varies and can be
# repeated; the seed is printed.
SEED ?= $(shell echo $$((1 + $$(git rev-list --count HEAD 2>/dev/null || echo 0) % 20)))
MINUTES ?= 2

chaos: build ## Use the system while its database fails and its processes die, and hold it to its promises: SEED=… MINUTES=…
	@go build -o build/rethread-chaos ./infra/chaos && exec build/rethread-chaos -seed $(SEED) -minutes $(MINUTES)

redrive: ## Send back what was given up, here or with STACK=…: QUEUE=abandoned or failures, DRY=1 to look only, DROP=1 to delete what is gone
	@go build -o build/rethread-redrive ./infra/ops/redrive && exec build/rethread-redrive

build: console ## Build every function's bootstrap and the local host
	@mkdir -p $(PROGRAMS) $(FUNCTIONS:%=build/functions/%)
	@$(LAMBDA_ENV) go build -o $(PROGRAMS)/ ./functions/... ./infra/local
	@for f in $(FUNCTIONS); do ln -sfn ../../programs/$$f build/functions/$$f/bootstrap; done
	@ln -sfn programs/local $(LOCAL)

console: ## Build the console's page, where Node.js is there
	@if $(HAS_NODE); then $(MAKE) -s --no-print-directory $(PAGE); \
		else echo "the console is left out: to have it, $(GET_NODE)" >&2; fi

node:
	@$(HAS_NODE) || { echo "Node.js is missing, or old: $(GET_NODE)" >&2; exit 1; }

$(PAGE): $(WEBTOOLS) $(WEB_SOURCE)
	@echo "building the console"
	@cd $(WEB) && npm run --silent build -- --logLevel warn
	@touch $@ $(WEB)/dist/.gitkeep

# Most tests wait, for the engine or for time to pass, hence more of them than cores;
# the end-to-end tests begin first, as they take longest. The linter vets.
GO_TEST = $(GOTEST) --format=pkgname-and-test-fails --format-hide-empty-pkg -- -vet=off -p 3 -parallel 6 -timeout=40m
# The race detector leaves out DEFLATE, which has no goroutines, and took most of
# the tests' time for the detector's notes on the bytes it reads.
RACE = -race -gcflags=compress/flate=-race=false

test: build $(GOTEST) ## Run every test, with the race detector where memory is shared
	@go build -o build/ ./infra/tools/concurrent ./infra/tools/engine
	@build/engine $(MAKE) -s --no-print-directory test-go

# The models play thousands of cases one step at a time; what they would find with the
# race detector the store's own tests find, and it takes six times as long.
MODELS := ./shared/store/sessions/modeltest ./shared/store/sessions/watchtest
# The store's tests run in memory and on DynamoDB Local.
ON_DYNAMODB := ./shared/store/sessions

test-go:
	@alone=$$(build/concurrent -not); together=$$(build/concurrent | grep -v -e /modeltest -e /watchtest); failed=; \
		$(GO_TEST) ./infra/test/e2e $(MODELS) $$alone || failed=1; \
		STORE_ENGINE=dynamodb $(GO_TEST) $(ON_DYNAMODB) || failed=1; \
		CGO_ENABLED=1 $(GO_TEST) $(RACE) $$together || failed=1; \
		test -z "$$failed"

test-contract: build $(PYTOOLS) ## Try the running API with generated requests over infra/openapi.yaml
	@go run ./infra/tools/schemathesis -program $(VENV)/bin/schemathesis -host $(LOCAL)

test-python: build $(ADKTOOLS) ## Test the Python package with google-adk against the local system
	@cd $(ADK) && $(VENV_ADK)/bin/ruff format --check . && $(VENV_ADK)/bin/ruff check . \
		&& $(VENV_ADK)/bin/mypy && $(VENV_ADK)/bin/pytest -q

test-web: node $(WEBTOOLS) $(BROWSERTOOLS) ## Check the console's page and its browser tests, and test what the page does by itself
	@cd $(WEB) && npm run --silent check && npm run --silent test
	@cd $(BROWSER) && npm run --silent check

test-browser: node build $(BROWSERTOOLS) ## Use the console in Chromium, against the local system
	@CHROMIUM=$$($(BROWSER)/chromium.sh) && export CHROMIUM && cd $(BROWSER) && npm run --silent test

FUZZTIME ?= 10s
fuzz: ## Give every parser inputs of any kind: FUZZTIME=10s for each, ONLY= a part of a target's name
	@go run ./infra/tools/fuzz -each $(FUZZTIME) -only '$(ONLY)'

lint: $(GOLANGCI) ## Lint, layer rule included
	$(GOLANGCI) config verify
	$(GOLANGCI) run ./...

fmt: $(GOLANGCI) ## Format the code
	$(GOLANGCI) fmt ./...

fmt-check: $(GOLANGCI) ## Fail where the code is not formatted
	$(GOLANGCI) fmt --diff ./...

validate: node console $(PYTOOLS) ## Check the template: sam, cfn-lint over the translated one, sam build
	$(VENV)/bin/sam validate --lint --template template.yaml
	@mkdir -p build
	$(VENV)/bin/python infra/tools/translate.py template.yaml > build/template.json
	$(VENV)/bin/cfn-lint --template build/template.json
	$(SAM_BUILD) --build-dir build/sam

SAM_BUILD = $(LAMBDA_ENV) $(VENV)/bin/sam build --build-in-source --template template.yaml

deploy: node console $(PYTOOLS) ## Build for AWS and deploy, asking for what it needs; then examine what is deployed
	$(SAM_BUILD)
	$(VENV)/bin/sam deploy --guided
	@saved() { sed -n "s/^$$1 *= *\"\(.*\)\"$$/\1/p" samconfig.toml 2>/dev/null | head -1 || true; }; \
		stack=$${STACK:-$$(saved stack_name)}; region=$$(saved region); profile=$$(saved profile); \
		test -n "$$stack" || { echo "what was deployed is not known, as nothing was saved: examine it with make doctor STACK=…" >&2; exit 1; }; \
		test -z "$$region" || export AWS_REGION=$$region; test -z "$$profile" || export AWS_PROFILE=$$profile; \
		$(MAKE) -s --no-print-directory doctor STACK=$$stack

reproducible: ## Build every function in two folders for AWS, and fail where the bytes differ
	@rm -rf build/reproducible && mkdir -p build/reproducible/copy
	@tar -cf - --exclude=node_modules go.mod go.sum functions shared | tar -xf - -C build/reproducible/copy
	@$(LAMBDA_ENV) GOOS=linux GOARCH=arm64 go build -o build/reproducible/here/ ./functions/...
	@cd build/reproducible/copy && $(LAMBDA_ENV) GOOS=linux GOARCH=arm64 go build -o ../there/ ./functions/...
	@diff -rq build/reproducible/here build/reproducible/there && echo "the bytes are the same from both folders"

sbom: build $(SUPPLY)/built ## Write the bill of materials of what is deployed to build/sbom.json (CycloneDX)
	@rm -rf build/sbom && mkdir -p build/sbom
	@version=v0.0.0-$$(git rev-parse --short=12 HEAD); \
		for f in $(FUNCTIONS); do $(SUPPLY)/cyclonedx-gomod bin -json -noserial -notimestamp \
		-version $$version -output build/sbom/$$f.json build/functions/$$f/bootstrap; done
	@go run ./infra/tools/sbom -output build/sbom.json build/sbom/*.json && echo "build/sbom.json is written"

vuln: $(SUPPLY)/built ## Look for known vulnerabilities in what is deployed; needs vuln.go.dev
	@$(SUPPLY)/govulncheck -tags=lambda.norpc ./functions/... || { status=$$?; \
		test $$status = 3 || echo "nothing was checked; the database of vulnerabilities, https://vuln.go.dev, must be reachable" >&2; \
		exit $$status; }

licences: $(SUPPLY)/built ## Fail where something that is deployed is under a licence that is not allowed
	@go run ./infra/tools/licences -checker $(SUPPLY)/go-licenses ./functions/...

bench: build ## Print what each operation costs in capacity units, and how long tokens take to watchers; write docs/costs.md
	@go run ./infra/bench

costs: ## Write docs/costs.md anew, from the units that make bench has recorded
	@go run ./infra/bench -page

ci: fmt-check lint verify licences validate reproducible test fuzz chaos test-contract test-python test-web test-browser ## All that must hold before a change lands

verify: ## Check the modules that were downloaded against go.sum
	@go mod verify

tools: $(GOLANGCI) $(GOTEST) $(PYTOOLS) $(SUPPLY)/built ## Install the pinned tools into .tools and .venv

$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI_VERSION), once; this takes a few minutes"
	@CGO_ENABLED=0 GOBIN=$(TOOLS)/new go install -trimpath github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(TOOLS)/new/golangci-lint $@

$(GOTEST):
	@CGO_ENABLED=0 GOBIN=$(TOOLS)/new go install -trimpath gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
	@mv $(TOOLS)/new/gotestsum $@

$(SUPPLY)/built: infra/tools/supply/go.mod infra/tools/supply/go.sum
	@echo "building the supply tools of infra/tools/supply/go.mod"
	@mkdir -p $(@D) && CGO_ENABLED=0 go -C infra/tools/supply build -trimpath -o $(@D)/ tool
	@touch $@

$(PYTOOLS): infra/tools/requirements.txt
	@command -v $(PYTHON) >/dev/null || { echo "python3 is missing: install Python 3.11 or newer with venv" >&2; exit 1; }
	@echo "installing the Python tools of infra/tools/requirements.txt into .venv"
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(ADKTOOLS): $(ADK)/requirements.txt $(ADK)/pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "python3 is missing: install Python 3.11 or newer with venv" >&2; exit 1; }
	@echo "installing google-adk, and what the tests of $(ADK) need, into $(VENV_ADK)"
	@$(PYTHON) -m venv $(VENV_ADK)
	@$(VENV_ADK)/bin/pip install --quiet --disable-pip-version-check -r $<
	@$(VENV_ADK)/bin/pip install --quiet --disable-pip-version-check --no-deps -e $(ADK)
	@touch $@

$(WEBTOOLS) $(BROWSERTOOLS): %/node_modules/.package-lock.json: %/package-lock.json
	@echo "installing the packages of $*/package-lock.json"
	@cd $* && npm ci --loglevel=error --no-audit --no-fund
	@touch $@

clean: ## Remove what was built and the local data; installed tools stay
	rm -rf build .aws-sam .hypothesis .schemathesis schemathesis-report $(BROWSER)/results
	find $(WEB)/dist -mindepth 1 -not -name .gitkeep -delete
