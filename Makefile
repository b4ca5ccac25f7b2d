# Rethread. `make` lists the targets of daily work, `make targets` the others, which are in
# infra/make.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

FUNCTIONS := $(notdir $(patsubst %/,%,$(wildcard functions/*/)))
PROGRAMS  := build/programs
LOCAL     := build/rethread-local

# The environment that builds functions, here and in `sam build`: the result does not
# depend on the folder or the checkout, so that every build has the same bytes.
LAMBDA_ENV := CGO_ENABLED=0 GOFLAGS="-tags=lambda.norpc -trimpath -buildvcs=false '-ldflags=-s -w'"
# Everything else is compiled with the same flags, so that the build cache is shared.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false

include $(patsubst %,infra/make/%.mk,tools build test bench release)
# Targets with a description are no files.
.PHONY: needs $(shell sed -n 's/^\([a-z-]*\):.*\#\# .*/\1/p' Makefile infra/make/*.mk)

needs:
	@infra/tools/needs/needs.sh "$$(sed -n 's/^go //p' go.mod)"

run: needs build ## Run the whole system on http://127.0.0.1:3000, websockets on :3001; Ctrl-C stops it
	@export WATCH_CONCURRENCY=$${WATCH_CONCURRENCY-64} && exec $(LOCAL)

demo: build ## Play a short story through the API (RETHREAD_URL names a running system)
	@go run ./infra/demo

watch: ## Show a session live: SESSION=… (as RETHREAD_USER, alice by default)
	@go build -o build/rethread-watch ./infra/tools/watch && exec build/rethread-watch

# Without DynamoDB Local and the local system, of the models few cases. Generated types
# and frameworks take long to install: pyright belongs to test-python, and the types of
# the pages of other frameworks to test-frontends.
check: node console $(GOTEST) $(BROWSERTOOLS) ## Test what needs neither processes nor the race detector, while you work
	@mkdir -p build; $(MAKE) -s --no-print-directory build/checked-web >build/check-web.log 2>&1 & web=$$!; failed=; \
		tests=$$(go run ./infra/tools/suites check) && STORE_CASES=few $(GO_TEST) $$tests || failed=1; \
		for module in $(GO_CLIENTS); do (cd $$module && $(GO_TEST) ./...) || failed=1; done; \
		wait $$web || { failed=1; cat build/check-web.log >&2; }; test -z "$$failed"

test: build $(GOTEST) ## Test the Go code, before a commit; random tests have the seed PROPERTY_SEED=1
	@echo "random tests: PROPERTY_SEED=$(PROPERTY_SEED)"
	@$(TEST_TOOLS) && STORE_CASES=few build/engine $(MAKE) -s --no-print-directory test-go

fmt: $(GOLANGCI) ## Format the code
	$(GOLANGCI) fmt ./... $(GO_CLIENTS)

lint: $(GOLANGCI) ## Lint, including the rules for layers
	$(GOLANGCI) config verify
	$(GOLANGCI) run ./...
	@for module in $(GO_CLIENTS); do (cd $$module && $(GOLANGCI) run ./...) || exit 1; done

# infra/tools/steps/budget.json lists the steps; those whose inputs have not changed since
# they passed are left out without CI_ALL. `make test` has run the fuzzers' corpora.
ci: export FUZZTIME = 5s
ci: export ONE_IN = 3
ci: export EXAMPLES = 30
ci: export BROWSER_RETRIES = 1
PLAYED = build/steps $(if $(CI_ALL),-all)
ci: ## Check all that must pass before a change lands: STEPS=… only some, CI_ALL=1 all
	@go build -o build/ ./infra/tools/steps
	@$(MAKE) -s --no-print-directory installed build $(PAGE) STEPS="$$($(PLAYED) -list $(STEPS) | tr '\n' ' ')"
	@BUILT=1 $(PLAYED) $(STEPS)

doctor: ## Check the local system, or with STACK=… one in AWS; TOKEN=… adds a test session
	@go build -o build/rethread-doctor ./infra/ops/doctor && exec build/rethread-doctor

deploy: node console $(PYTOOLS) ## Build for AWS and deploy, asking for parameters; then check the deployment
	$(SAM_BUILD)
	$(VENV)/bin/sam deploy --guided
	@saved() { sed -n "s/^$$1 *= *\"\(.*\)\"$$/\1/p" samconfig.toml 2>/dev/null | head -1 || true; }; \
		stack=$${STACK:-$$(saved stack_name)}; region=$$(saved region); profile=$$(saved profile); \
		test -n "$$stack" || { echo "the name of the stack was not saved: check it with make doctor STACK=…" >&2; exit 1; }; \
		test -z "$$region" || export AWS_REGION=$$region; test -z "$$profile" || export AWS_PROFILE=$$profile; \
		$(MAKE) -s --no-print-directory doctor STACK=$$stack

# Prints the targets of a file with their descriptions.
describe = awk -F ':.*\#\# ' '/^[a-z-]+:.*\#\# / { printf "  \033[1m%-16s\033[0m %s\n", $$1, $$2 }' $(1)

.PHONY: help targets map
help:
	@$(call describe,Makefile); echo; echo "make targets lists the others, make map the packages"

targets:
	@for file in infra/make/*.mk; do sed -n '1s/^\# //p' $$file; $(call describe,$$file); echo; done

map:
	@go list -f '{{if .Doc}}{{.ImportPath}} {{.Doc}}{{end}}' ./functions/... ./shared/... ./infra/... \
		| sed 's,^github.com/rethread/rethread/,,' | awk 'NF { path = $$1; $$1 = ""; printf "%-42s%s\n", path, $$0 }'
