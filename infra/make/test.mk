# The other tests, most of them steps of `make ci`.

.PHONY: node
node:
	@$(HAS_NODE) || { echo "Node.js is missing or too old: $(GET_NODE)" >&2; exit 1; }

# The files' hash is the seed of what differs from change to change: a commit and the
# files before it play the same. The seed is printed.
SEED ?= $(shell go run ./infra/tools/steps -seed || echo 1)
MINUTES ?= 2

chaos: build ## Use the system while its database fails and its processes die, and check its promises: SEED=… MINUTES=…
	@go build -o build/rethread-chaos ./infra/chaos && exec build/rethread-chaos -seed $(SEED) -minutes $(MINUTES)

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

test-slow: build $(GOTEST) ## Run the tests of Go that `make test` leaves out, the models with all cases, and the store's also on DynamoDB Local
	@$(TEST_TOOLS) && build/engine $(MAKE) -s --no-print-directory test-slow-go

# infra/tools/suites/suite/suites.txt says which tests run where, and why.
TEST_TOOLS = go build -o build/ ./infra/tools/suites ./infra/tools/engine

# What `make check` tests beside Go; again if a file has changed, as Go's packages are.
CHECKED_WEB := $(shell find $(PACKAGE) $(WEB) $(BROWSER) \( -name node_modules -o -name dist -o -name results \) -prune -o -type f -print)
build/checked-web: infra/openapi.yaml docs/console.md $(CHECKED_WEB)
	@cd $(PACKAGE) && npm run --silent check
	@$(MAKE) -s --no-print-directory test-web
	@touch $@

# The end-to-end tests mostly wait: beside them runs what needs the processor.
.PHONY: test-go test-slow-go
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

fmt-check: $(GOLANGCI) ## Fail if code is not formatted
	$(GOLANGCI) fmt --diff ./... $(GO_CLIENTS)
