# Measurements of costs and times, and the pages that are drawn from them.

pictures: node build $(BROWSERTOOLS) ## Take the pictures of the console for docs/images
	@CHROMIUM=$$($(BROWSER)/chromium.sh) && export CHROMIUM && cd $(BROWSER) && npm run --silent pictures

bench-open: node build $(BROWSERTOOLS) ## Measure how fast the console opens chats of 2, 12 and 2,000 turns in Chromium
	@CHROMIUM=$$($(BROWSER)/chromium.sh) && export CHROMIUM && cd $(BROWSER) && npm run --silent bench

bench: programs ## Measure the capacity units of each operation, the functions, and the delay from token to watcher; write docs/costs.md
	@go run ./infra/bench

bench-functions: programs ## Measure the size, start and memory of each function; write its table in docs/operation.md
	@go run ./infra/bench -functions

# Each function for this machine and as it is deployed, and the simplest one beside them.
.PHONY: programs
programs: build arm64
	@$(LAMBDA_ENV) go build -o build/bare/bootstrap ./infra/bench/coldstart/bare
	@$(LAMBDA_ENV) GOOS=linux GOARCH=arm64 go build -o build/bare/arm64 ./infra/bench/coldstart/bare

speed: ## Compare appends at the store with bare conditional puts at the same concurrency: ONLY=… (the beginning of a scenario's name) PROFILE=… (a file for pprof)
	@go run ./infra/bench -speed $(if $(ONLY),-only "$(ONLY)") $(if $(PROFILE),-profile $(PROFILE))

meter: build ## Measure what whole HTTP requests cost, through the local system, in some 7 minutes (QUICK=1: after 10 turns only); write docs/benchmarks/meter.json, docs/costs.md and the README's tables
	@go run ./infra/bench -meter $(if $(QUICK),-quick)

costs: ## Write docs/costs.md and the tables of other pages from what make bench and make meter have recorded
	@go run ./infra/bench -page

bench-peers: node build $(PEERTOOLS) ## Compare Rethread with other stores in one engine, in some 4 minutes; write docs/benchmarks/peers.json, its plots and docs/costs.md: DRAW=1 only writes these from the data
	@go run ./$(PEERS) $(if $(DRAW),-page)

test-peers: node build $(PEERTOOLS) ## Store and load 10 turns with each store of make bench-peers
	@go run ./$(PEERS) -quick
