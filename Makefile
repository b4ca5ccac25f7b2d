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
ADK      := infra/clients/python
VENV_ADK := $(CURDIR)/$(ADK)/.venv-adk
ADKTOOLS := $(VENV_ADK)/installed

FUNCTIONS  := $(notdir $(patsubst %/,%,$(wildcard functions/*/)))
BOOTSTRAPS := $(FUNCTIONS:%=build/functions/%/bootstrap)
LOCAL      := build/rethread-local

# What a function is built with, here and in `sam build`.
LAMBDA_ENV   := CGO_ENABLED=0
LAMBDA_FLAGS := -tags=lambda.norpc -trimpath

export SAM_CLI_TELEMETRY := 0

.PHONY: help run demo watch build test test-contract test-python lint fmt fmt-check ci validate deploy bench tools clean FORCE

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-14s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Start everything here: HTTP on 127.0.0.1:3000, websockets on :3001; Ctrl-C stops it
	@exec $(LOCAL)

demo: build ## Tell a short story through the API (RETHREAD_URL and RETHREAD_WS_URL name a running system)
	@go run ./infra/demo

watch: ## Show a session as it happens: make watch SESSION=… (RETHREAD_USER says as whom, alice by default)
	@go build -o build/rethread-watch ./infra/watchcmd && exec build/rethread-watch

build: $(BOOTSTRAPS) $(LOCAL) ## Build every function's bootstrap and the local host

build/functions/%/bootstrap: FORCE
	@$(LAMBDA_ENV) go build $(LAMBDA_FLAGS) -ldflags='-s -w' -o $@ ./functions/$*

$(LOCAL): FORCE
	@go build -o $@ ./infra/local

test: build $(GOTEST) ## Run every test with the race detector
	$(GOTEST) --format=pkgname-and-test-fails --format-hide-empty-pkg -- -race -timeout=10m ./...

test-contract: build $(PYTOOLS) ## Try the running API with generated requests over infra/openapi.yaml
	@go run ./infra/tools/schemathesis -program $(VENV)/bin/schemathesis -host $(LOCAL)

test-python: build $(ADKTOOLS) ## Test the Python package with google-adk against the local system
	@cd $(ADK) && $(VENV_ADK)/bin/ruff format --check . && $(VENV_ADK)/bin/ruff check . \
		&& $(VENV_ADK)/bin/mypy && $(VENV_ADK)/bin/pytest -q

lint: $(GOLANGCI) ## Lint, layer rule included
	$(GOLANGCI) config verify
	$(GOLANGCI) run ./...

fmt: $(GOLANGCI) ## Format the code
	$(GOLANGCI) fmt ./...

fmt-check: $(GOLANGCI) ## Fail where the code is not formatted
	$(GOLANGCI) fmt --diff ./...

validate: $(PYTOOLS) ## Check the template: sam, cfn-lint over the translated one, sam build
	$(VENV)/bin/sam validate --lint --template template.yaml
	@mkdir -p build
	$(VENV)/bin/python infra/tools/translate.py template.yaml > build/template.json
	$(VENV)/bin/cfn-lint --template build/template.json
	$(SAM_BUILD) --build-dir build/sam

SAM_BUILD = $(LAMBDA_ENV) GOFLAGS='$(LAMBDA_FLAGS) -buildvcs=false' \
	$(VENV)/bin/sam build --build-in-source --template template.yaml

deploy: $(PYTOOLS) ## Build for AWS and deploy, asking for what it needs
	$(SAM_BUILD)
	$(VENV)/bin/sam deploy --guided

bench: build ## Print what each operation costs in capacity units, and how long tokens take to watchers
	@go run ./infra/bench

ci: fmt-check lint validate test test-contract test-python ## All that must hold before a change lands

tools: $(GOLANGCI) $(GOTEST) $(PYTOOLS) ## Install the pinned tools into .tools and .venv

$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI_VERSION), once; this takes a few minutes"
	@CGO_ENABLED=0 GOBIN=$(TOOLS)/new go install -trimpath github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(TOOLS)/new/golangci-lint $@

$(GOTEST):
	@CGO_ENABLED=0 GOBIN=$(TOOLS)/new go install -trimpath gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
	@mv $(TOOLS)/new/gotestsum $@

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

clean: ## Remove what was built and the local data; installed tools stay
	rm -rf build .aws-sam .hypothesis .schemathesis schemathesis-report
