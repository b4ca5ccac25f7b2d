# What is deployed and published: checks of the template, builds, releases, dead letters.

redrive: ## Send dead letters back, locally or with STACK=…: QUEUE=abandoned or failures, DRY=1 only lists, DROP=1 deletes those that cannot be sent
	@go build -o build/rethread-redrive ./infra/ops/redrive && exec build/rethread-redrive

validate: node console $(PYTOOLS) ## Check the template: sam validate, cfn-lint on the translated template, sam build
	$(VENV)/bin/sam validate --lint --template template.yaml
	@mkdir -p build
	$(VENV)/bin/python infra/tools/translate.py template.yaml > build/template.json
	$(VENV)/bin/cfn-lint --template build/template.json
	$(SAM_BUILD) --build-dir build/sam

SAM_BUILD = $(LAMBDA_ENV) $(VENV)/bin/sam build --build-in-source --template template.yaml

# The functions for AWS, as a deployment and a release have them.
.PHONY: arm64
arm64: console
	@$(LAMBDA_ENV) GOOS=linux GOARCH=arm64 go build -o build/arm64/ ./functions/...

# What is on the way of a turn stays small, since Lambda loads all of it at a cold start.
TURN       := events runs sessions fanout authorizer sse
TURN_BYTES := 14000000

reproducible: arm64 ## Build every function for AWS in two folders; fail if the bytes differ, or one on the way of a turn exceeds 14 MB
	@large=$$(find $(TURN:%=build/arm64/%) -size +$(TURN_BYTES)c); \
		test -z "$$large" || { echo "over $(TURN_BYTES) bytes: $$large" >&2; exit 1; }
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

version: ## Write VERSION=x.y.z to every file that names the version, and move the changelog's unreleased entries to it
	@go run ./$(RELEASE) set -version '$(VERSION)'

release: ## Build and check all that is published as VERSION=x.y.z, in build/release; nothing is published
	@mkdir -p build && go build -o build/rethread-release ./$(RELEASE) && build/rethread-release check -version '$(VERSION)'
	@rm -rf $(PACKAGE)/dist build/arm64
	@$(MAKE) -s --no-print-directory release-files FOLDER=build/release

# Runs a command, and prints its output if it fails.
quietly = out=$$($(1) 2>&1) || { echo "$$out" >&2; exit 1; }

# The time of all files in a release is that of the commit.
.PHONY: release-files
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
