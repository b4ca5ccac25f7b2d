# What is built from the sources: functions, the local host, the page of the console.

# Whether Node.js is installed and new enough, and the message if it is not.
HAS_NODE := command -v npm >/dev/null && node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || a == 20 && b >= 19 ? 0 : 1)'
GET_NODE := install Node.js 20.19 or newer, with npm (https://nodejs.org)

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

$(PAGE): $(WEBTOOLS) $(PACKAGEBUILT) $(WEB_SOURCE)
	@echo "building the console"
	@cd $(WEB) && npm run --silent build -- --logLevel warn
	@touch $@ $(WEB)/dist/.gitkeep

$(PACKAGEBUILT): $(PACKAGETOOLS) $(wildcard $(PACKAGE)/tsconfig*.json) $(shell find $(PACKAGE)/src -name '*.ts' -not -name schema.ts) infra/openapi.yaml
	@echo "building the npm package"
	@rm -rf $(@D) && cd $(PACKAGE) && npm run --silent build
	@touch $@

clean: ## Remove build results and local data; installed tools stay
	rm -rf build $(PACKAGE)/dist .aws-sam .hypothesis .schemathesis schemathesis-report $(BROWSER)/results
	find $(WEB)/dist -mindepth 1 -not -name .gitkeep -delete
