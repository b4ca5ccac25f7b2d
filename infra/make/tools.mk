# Tools, packages and Python environments: pinned versions, installed into ignored folders.

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

export SAM_CLI_TELEMETRY := 0
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1
# uv takes Python and the certificates from the machine, as pip does.
export UV_CACHE_DIR := $(CACHE)/uv
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS := 1

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
