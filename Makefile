# Everything here needs Go, make and git, and nothing else. `make help` lists the targets.

# Static programs start faster, and a run starts one process per node.
BUILD = CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/orchestrator ./cmd/node

# The race detector needs cgo, and cgo a C compiler.
RACE = $(shell test "$$(go env CGO_ENABLED)" = 1 && command -v "$$(go env CC)" >/dev/null && echo -race)

FUZZTIME = 5s

# It says what it is testing, where go test would be silent for minutes.
GOTEST = go run ./internal/gotest $(RACE)

# Each variable of the command line is the flag of that name: THINK=1ms is --think='1ms'.
quote = '$(subst ','\'',$(1))'
flag = $(if $($(1)),--$(shell echo $(1) | tr A-Z_ a-z-)=$(call quote,$($(1))))
given = $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v)))
FLAGS = $(foreach v,$(filter-out ARGS,$(given)),$(call flag,$(v)))

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
	@$(GOTEST) ./...

.PHONY: soak
soak: ## run the long forms of the tests: more seeds, larger clusters and spaces, a minute per fuzz target
	@SOAK=1 $(GOTEST) -timeout 3h ./...
	@$(MAKE) --no-print-directory fuzz FUZZTIME=1m

.PHONY: budget
budget: ## measure the CPU time that the tests of each algorithm take
	@go test ./cmd/orchestrator -count=1 -v -run '^TestBudget$$' -budget

.PHONY: mutants
mutants: ## have the checks look for what is wrong with algorithms of which one rule was changed
	@cd nodes/mutex && SOAK=1 go test -count=1 -run '^TestMutantsOfRows$$'

.PHONY: check
check: ## look for what tests do not find: format, vet, staticcheck, go.mod, short fuzz runs
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted" >&2; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff
	@$(MAKE) --no-print-directory fuzz

.PHONY: fuzz
fuzz: ## fuzz each target for FUZZTIME (5s)
	@grep -r --include='*_test.go' '^func Fuzz' . | sed -E 's|/[^/]*:func (Fuzz[A-Za-z]*).*| \1|' | \
		while read -r package target; do \
			echo "fuzzing $$target of $$package"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done

.PHONY: readme
readme: ## bring the README's table of algorithms up to date
	@go test ./cmd/orchestrator -run TestReadme -update-readme

.PHONY: clean
clean: ## remove what was built, and no results
	@rm -rf bin
