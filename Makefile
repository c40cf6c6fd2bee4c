# Everything here needs Go, make and git, and nothing else. `make help` lists the targets.

# Static programs start faster, and a run starts one process per node.
BUILD = CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/orchestrator ./cmd/node

# The race detector needs cgo, and cgo a C compiler.
RACE = $(shell test "$$(go env CGO_ENABLED)" = 1 && command -v "$$(go env CC)" >/dev/null && echo -race)

FUZZTIME = 5s

# $(call flag,name,value) is the flag --name with the value, quoted, if there is a value.
quote = '$(subst ','\'',$(1))'
flag = $(if $(strip $(2)),--$(1) $(call quote,$(2)))
# $(call switch,name,value) is the flag --name unless the value is empty or says no.
switch = $(if $(filter-out 0 no false,$(2)),--$(1))

FLAGS = $(call flag,algo,$(ALGO)) $(call flag,nodes,$(N)) $(call flag,load,$(LOAD)) \
	$(call flag,hold,$(HOLD)) $(call flag,think,$(THINK)) $(call flag,rate,$(RATE)) \
	$(call flag,arrivals,$(ARRIVALS)) $(call flag,latency,$(LATENCY)) $(call flag,regions,$(REGIONS)) \
	$(call switch,multicast,$(MULTICAST)) $(call flag,quorums,$(QUORUMS)) $(call flag,tree,$(TREE)) \
	$(call flag,duration,$(DURATION)) $(call flag,warmup,$(WARMUP)) $(call flag,entries,$(ENTRIES)) \
	$(call flag,trials,$(TRIALS)) $(call flag,seed,$(SEED)) $(call flag,patience,$(PATIENCE)) \
	$(call flag,nats,$(NATS)) $(call flag,results,$(RESULTS)) $(call flag,set,$(SET)) \
	$(call switch,json,$(JSON))

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: bench
bench: build ## run an algorithm and judge it: make bench ALGO=ricart N=32 [LOAD= HOLD= LATENCY= ...]
	@bin/orchestrator bench $(FLAGS) $(ARGS)

.PHONY: build
build: ## build bin/orchestrator and bin/node
	@command -v go >/dev/null || { echo "Turnstile is built with Go 1.26 or later: https://go.dev/dl/" >&2; exit 1; }
	@$(BUILD)

.PHONY: test
test: ## run all tests, with the race detector if there is a C compiler
	@go test $(RACE) ./...

.PHONY: mutants
mutants: ## have the checks look for what is wrong with algorithms of which one rule was changed
	@cd nodes/mutants && go test -count=1 -run '^TestMutants$$'

.PHONY: check
check: ## look for what tests do not find: format, vet, staticcheck, go.mod, short fuzz runs
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted" >&2; exit 1; }
	@go vet ./...
	@go tool staticcheck ./...
	@go mod tidy -diff
	@$(MAKE) --no-print-directory fuzz

.PHONY: fuzz
fuzz: ## fuzz each target for FUZZTIME (5s)
	@set -e; for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

.PHONY: readme
readme: ## bring the README's table of algorithms up to date
	@go test ./cmd/orchestrator -run TestReadme -update-readme

.PHONY: clean
clean: ## remove what was built, and no results
	@rm -rf bin
