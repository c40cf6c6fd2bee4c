# Everything here needs Go, make and git, and nothing else. `make help` lists the targets.

# Static programs start faster, and a run starts one process per node.
BUILD = go build -buildvcs=false -ldflags "$(stamp)" -o bin/ $(PROGRAMS)
PROGRAMS = ./cmd/orchestrator ./cmd/node

# Programs know the commit of this tree, and whether it was changed, where git says so: in a clone or a work tree,
# whoever owns it. Published sets change no program, and files that are new to git count if the build reads them.
# Without git, or in a copy that lies within another repository, they know none.
GIT = git --no-optional-locks -c safe.directory='*'
but-sets = . ':!results/published'
ours = $(shell sed -n 's/^module //p' go.mod 2>/dev/null)
stamp = $$(test -z "$$($(GIT) rev-parse --show-prefix 2>&1)" && \
	commit=$$($(GIT) rev-parse --verify HEAD 2>/dev/null) && \
	status=$$($(GIT) status --porcelain --untracked-files=no -- $(but-sets) 2>/dev/null) && \
	new=$$($(GIT) ls-files --others --exclude-standard | sed 's|^|$(ours)/|') && \
	echo "-X $(ours)/commands.commit=$$commit -X $(ours)/commands.changed=$$(test -z "$$status" && { test -z "$$new" || \
		! $(files) | grep -qxF "$$new"; } && echo false || echo true)")
files = { echo $(ours)/go.work; go list -deps -f '{{with .Module}}{{if .Main}}{{range $$.GoFiles}}{{$$.ImportPath}}/{{.}}{{"\n"}}{{\
	end}}{{range $$.EmbedFiles}}{{$$.ImportPath}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}' $(PROGRAMS); }

# Programs and tests are compiled in one way, so that the compiler is called once for both, and by all clones.
export CGO_ENABLED = 0
export GOFLAGS := $(GOFLAGS) -trimpath

# The race detector needs cgo, and cgo a C compiler.
RACE = $(shell command -v "$$(go env CC)" >/dev/null && echo -race)

FUZZTIME = 5s
IMAGE = turnstile
STORM_RUNS = 100
STORM_SEED = 1

# Tests are run by gotestsum: a line for each package, then what failed and what was skipped, and why. Beside the
# time stands what a unit of work took meanwhile, since machines differ. make check vets what tests do not.
GOTEST = $(CURDIR)/bin/unit $(CURDIR)/bin/gotestsum --format pkgname-and-test-fails --format-hide-empty-pkg

.PHONY: tools
tools:
	@go build -buildvcs=false -o bin/ ./internal/unit ./internal/flaky gotest.tools/gotestsum

# Packages that start processes, and their subfolders. A loaded machine may fail a test of these.
PROCESSES = $(addprefix $(ours)/,commands cmd bench hosts nodes/host nodes/history internal/times)

# RERUN=1, as CI has it, runs a failed test once more. It is then told of as FLAKY; of a test of other packages, after a
# panic, a violation or something left behind, the run stays failed, and so it does if more than three fail.
ifdef RERUN
rerun = --rerun-fails=1 --rerun-fails-abort-on-data-race --rerun-fails-max-failures=3 --jsonfile $(CURDIR)/bin/tests.json
flaky = bin/flaky bin/tests.json
endif

# The program takes each variable of the command line for the flag of that name, and refuses what is none:
# THINK=1ms is --think=1ms. Those of the environment do not count. ARGS goes to it as it is.
COMMANDS = bench elect split-brain simulate explore validate chaos matrix verify runs show list plans \
	inject broker sweep compare report diagram hosts claims
quote = '$(subst ','\'',$(1))'
given := $(sort $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v))))
args := $(if $(filter ARGS,$(given)),$(ARGS))
words = $(foreach v,$(filter-out ARGS GO% CGO_% CC RACE,$(given)),$(call quote,$(v)=$($(v)))) $(args)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: $(COMMANDS)
bench: ## run an algorithm and judge it: make bench ALGO=ricart N=32 [LOAD= HOLD= LATENCY= ...]
elect: ## have nodes elect leaders, and kill these for 20 s: make elect SCHEME=bully N=9 [CUT= DURATION= ...]
split-brain: ## cut a cluster in two, and say of every scheme who led: make split-brain SET=mine [N=5 CUT=0-1/2-4]
simulate: ## bench or elect on virtual time: make simulate ALGO=raymond N=100 LOSS=0.01
explore: ## try every order of events in a small cluster: make explore ALGO=maekawa-textbook N=4
validate: ## reproduce the published figures
claims: ## run what lecture texts claim, and say what was seen: make claims ARGS=J6, or make claims SOURCE=L
chaos: ## make runs under 60 random plans for each algorithm on virtual time and 50 on real processes, and compare the two
matrix: ## run every algorithm under every plan, and say where that is not as expected
sweep: ## run lists of configurations, each several times: make sweep ALGO=ricart,suzuki N=4,8,16 TRIALS=6
compare: ## compare two runs or sets, or what is in one: make compare ARGS='sweep --by algorithm'
report: ## write a page about a set of runs: make report ARGS=sweep
diagram: ## draw a run, message by message: make diagram ARGS=latest >run.svg
verify: ## judge a stored run again: make verify ARGS=latest, or make it again: make verify ARGS='latest --again'
runs: ## list the stored runs, or do what is below runs: make runs ARGS='export latest --to perfetto' >run.json
show: ## print the summary of a stored run again: make show ARGS=latest
list: ## list the algorithms
plans: ## list the plans of faults: make plans ALGO=raft
inject: ## inject a fault into a run that is on: make inject KILL=holder ARGS=latest
broker: ## run a broker alone
hosts: ## list the hosts of a control plane, or do what is below hosts: make hosts ARGS='keys keys'
$(COMMANDS): build
	@bin/orchestrator $@ $(words) $(if $(filter elect,$@),$(election))

# Elections are about leaders that crash, unless the call says what else goes wrong, or for how long.
election = $(if $(filter PLAN FAULT CUT KILL PAUSE,$(given))$(findstring --plan,$(args)),,--plan=leader-crashes) \
	$(if $(filter DURATION,$(given))$(findstring --duration,$(args)),,--duration=20s)

.PHONY: build
build: ## build bin/orchestrator and bin/node
	@command -v go >/dev/null || { echo "Turnstile is built with Go 1.26 or later: https://go.dev/dl/" >&2; exit 1; }
	@test -x bin/orchestrator || echo "building the programs, which takes a while the first time" >&2
	@space=$$(ulimit -v); test "$$space" = unlimited || test "$$space" -ge 1048576 || { \
		echo "programs in Go need 1048576 KB of address space, and the limit is $$space: raise it" \
			"(ulimit -v 1048576)" >&2; exit 1; }
	@$(BUILD)

# The program for browsers is no part of make build. play/assemble puts it into one file with all that the page needs.
.PHONY: play
play: ## make bin/play.html, a page in which one plays every algorithm by hand: make play && bin/orchestrator play
	@GOOS=js GOARCH=wasm go build -buildvcs=false -ldflags '-s -w' -o bin/play.wasm ./cmd/play
	@go run ./play/assemble -wasm bin/play.wasm -out bin/play.html

.PHONY: play-test
play-test: play ## test bin/play.html in Chromium, and its program in Node
	@go test -count=1 -timeout 15m ./play -run 'Page|WebAssembly' -page "$(CURDIR)/bin/play.html"

# The libraries of services are in a module of their own: the programs above need none of them.
.PHONY: services
services: build ## build bin/services: locks and elections that people use, for bench and elect --service
	@cd services && go build -buildvcs=false -o ../bin/ .

# Kubernetes' client takes minutes to build.
.PHONY: services-lease
services-lease: services ## build bin/services-lease: the election of Kubernetes, for elect --service lease
	@cd services/lease && go build -buildvcs=false -o ../../bin/services-lease .

# SHORT=1: the lock of Redis and that of etcd, and a failover of each.
.PHONY: services-test
services-test: tools ## test services, as far as their servers are installed: make services-test [SHORT=1]
	@cd services && $(if $(SHORT),$(GOTEST) $(rerun) --packages './redis ./etcd' -- -vet=off -short -p 1 -timeout 20m \
		-count=1 -run '^(TestLock|TestFailover)$$',go vet ./... && $(GOTEST) -- -vet=off -p 1 -timeout 20m -count=1 ./...)
	@$(if $(RERUN),$(flaky) $(ours)/services)
	@$(if $(SHORT),,cd services/lease && go vet ./... && go test -timeout 20m -count=1 ./...)

# Programs of a release are stripped; those of make build keep their symbols, for debuggers and profilers. Libraries
# demand that their licenses go with them.
GORELEASER = go run github.com/goreleaser/goreleaser/v2@v2.15.1
.PHONY: release
release: play ## write dist/release/: archives for linux and darwin, amd64 and arm64, play.html, SHA256SUMS; try one
	@rm -rf dist/manual && mkdir -p dist/manual && cp bin/play.html dist/play.html
	@SOURCE_DATE_EPOCH=$$($(GIT) log -1 --format=%ct) go run ./cmd/manual dist/manual
	@{ $(call licensed,$(PROGRAMS)) && cd services && $(call licensed,.); } | sort -u | while read -r name folder; do \
		texts=$$(find "$$folder" -maxdepth 1 -type f | grep -iE '/(licen[cs]e|copying|notice|patents)(\.txt|\.md)?$$') || { \
			echo "$$name has no license" >&2; exit 1; }; \
		printf '\n%s\n\n' "$$name" && cat $$texts; done >dist/manual/THIRD-PARTY-LICENSES
	@printf '\nThe standard library of Go has the license of golang.org/x/sys.\n' >>dist/manual/THIRD-PARTY-LICENSES
	@STAMP="$(stamp)" VERSION=$(version) $(GORELEASER) release --snapshot --clean --skip=publish
	@cp dist/play.html dist/release/
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && cd dist/release && sha256sum -c SHA256SUMS && \
		tar xzf turnstile-*-$$(go env GOOS)-$$(go env GOARCH).tar.gz -C "$$scratch" --strip-components 1 && cd "$$scratch" && \
		test -s play.html -a -s THIRD-PARTY-LICENSES -a -s man/man1/orchestrator-bench.1 -a -s docs/first-hour.md && ./orchestrator --version && \
		./services list >/dev/null && ./orchestrator bench --algo ricart -n 8
licensed = go list -deps -f '{{with .Module}}{{if not (or .Main (eq .Path "turnstile"))}}{{.Path}}@{{.Version}} {{\
	.Dir}}{{end}}{{end}}' $(1)
version = $(shell sed -n 's/^\#\# \([0-9.]*\).*/\1/p' CHANGELOG.md | head -1)

# The sets of results/published/, by the commit of the tree. Their runs are below dist/sets/. The same call goes on after
# an interruption, and leaves out the sets that this commit has made.
SETS = processes simulated services failover known-failures fault-matrix fault-matrix-processes split-brain \
	split-brain-processes
made-processes = sweep results/published/processes.yaml
made-simulated = sweep results/published/simulated.yaml --simulated
made-services = sweep results/published/services.yaml; $(make-run) sweep results/published/services-open.yaml
made-failover = matrix failover --runs 6
made-known-failures = matrix failures
made-fault-matrix = matrix --simulated --seed 1
made-fault-matrix-processes = matrix --seed 1
made-split-brain = split-brain --simulated --seed 1
made-split-brain-processes = split-brain --seed 1
make-run = f() { bin/orchestrator "$$@" --set $$set --results dist/sets || test $$? -le 3; }; f
repack = rm -rf dist/tables && bin/orchestrator runs publish "$$set" --tables --to "dist/tables/$$set" $(1) && \
	rm -rf "results/published/$$set" && mv "dist/tables/$$set" results/published/
.PHONY: published
published: services-lease ## make the sets of results/published/ again: make published [SETS='processes services']
	@test -z "$$($(GIT) status --porcelain -- $(but-sets))" || { echo "commit the changes first" >&2; exit 1; }
	@set -e; commit=$$($(GIT) rev-parse HEAD); $(foreach set,$(SETS),set=$(set); \
		grep -qs $$commit results/published/$$set/README.md || { $(make-run) $(made-$(set)); \
			$(call repack,--results dist/sets); };)

.PHONY: published-pages
published-pages: build ## make the reports of results/published/ again from their tables
	@set -e; for set in $(foreach set,$(SETS),$(call quote,$(set))); do $(call repack,--results results/published); done

KILLS = 200
.PHONY: services-kills
services-kills: services ## kill KILLS (200) processes of runs about services, and look at what is left of each run
	@cd commands && go test -count=1 -timeout 2h -parallel 3 -run '^TestServiceKills$$' \
		-service-kills $(call quote,$(KILLS))

.PHONY: image
image: ## build the container image: docker run --rm turnstile bench --algo ricart -n 16
	@rm -rf bin/image
	@GOOS=linux go build -buildvcs=false -ldflags "$(stamp)" -o bin/image/ $(PROGRAMS)
	@docker build -q -t $(call quote,$(IMAGE)) .

# Runs over containers: HOSTS of them (4), with FAULTS=1 such whose networks the kernel can cut off. Other variables go
# to the program, as for bench. compose/run.sh takes all down again, whatever happens.
OVER_CONTAINERS = compose-bench compose-elect compose-split-brain
.PHONY: $(OVER_CONTAINERS)
compose-bench: ## bench over containers: make compose-bench ALGO=ricart N=32 HOSTS=4 [FAULTS=1]
compose-elect: ## the same with elect
compose-split-brain: ## the same with split-brain
$(OVER_CONTAINERS): image
	@HOSTS=$(call quote,$(or $(HOSTS),4)) FAULTS=$(call quote,$(FAULTS)) IMAGE=$(call quote,$(IMAGE)) \
		RESULTS=$(call quote,$(RESULTS)) KEYS=$(call quote,$(KEYS)) sh compose/run.sh $(@:compose-%=%) \
		$(if $(filter HOSTS,$(given)),,HOSTS=4) $(across) $(if $(filter %-elect,$@),$(election))
across = $(foreach v,$(filter-out ARGS IMAGE KEYS RESULTS FAULTS GO% CGO_% CC RACE,$(given)),$(call \
	quote,$(v)=$($(v)))) $(args)

.PHONY: test-compose
test-compose: ## test runs over containers, with their networks cut off and one killed: three minutes at most
	@COMPOSE=1 go test -count=1 -timeout 5m -v -run '^TestCompose' ./commands

# Tests have three lengths (internal/soak): short, usual, and long where SOAK is set.
.PHONY: test
test: tools ## run the tests in their short form: each behaviour once, at the smallest size that shows it
	@echo "building the tests, which takes minutes the first time" >&2
	@$(GOTEST) $(rerun) --packages './commands ./...' -- -vet=off -short -timeout 30m
	@$(if $(RERUN),$(flaky) $(PROCESSES))

# WHY: the reason why the code grew.
.PHONY: size
size: ## print the size of each room; write .ci/size: make size UPDATE=1 [WHY='a service of its own']
	@go run ./internal/size $(if $(UPDATE),-update) $(if $(WHY),-why $(call quote,$(WHY)))

.PHONY: unit
unit: ## print the CPU time of a unit of work, beside which times of tests are given
	@go run ./internal/unit

# The packages that start no process.
plain = $(shell go list ./... | grep -vx '$(ours)' | grep -vE '^($(subst $(space),|,$(PROCESSES)))(/|$$)')
space = $(subst ,, )

.PHONY: race
race: tools ## run the tests of packages that start no process with the race detector
	@$(if $(RACE),,echo "SKIPPED: the race detector needs cgo and a C compiler" >&2)
	@$(if $(RACE),CGO_ENABLED=1 $(GOTEST) --packages '$(plain)' -- $(call quote,$(RACE)) -vet=off -short -timeout 30m)

# The packages whose tests have more than a short form.
longer = $(shell grep -rlE 'soak\.Pick|testing\.Short' --include='*_test.go' --exclude-dir=services . | \
	xargs -n 1 dirname | sort -u)

.PHONY: test-all
test-all: tools ## run all: with the race detector; the usual form (larger spaces, more seeds, storms); fuzz, compose, services
	@$(if $(RACE),,echo "SKIPPED: the race detector needs cgo and a C compiler" >&2)
	@$(if $(RACE),CGO_ENABLED=1 $(GOTEST) -- $(call quote,$(RACE)) -vet=off -short -timeout 30m ./...)
	@$(GOTEST) -- -vet=off -timeout 20m $(longer)
	@$(MAKE) --no-print-directory fuzz
	@if docker version >/dev/null 2>&1; then $(MAKE) --no-print-directory test-compose; else \
		echo "SKIPPED: no Docker engine answers, so no run was made over containers" >&2; fi
	@$(MAKE) --no-print-directory services-test

.PHONY: soak
soak: tools ## run their long form, for a night: many more seeds, larger spaces, a minute per fuzz target
	@SOAK=1 $(GOTEST) -- -vet=off -timeout 6h ./...
	@$(MAKE) --no-print-directory fuzz FUZZTIME=1m

# What child processes do counts too: tests build programs that count it, and all leave it in GOCOVERDIR, which
# go test would set otherwise. Some run as another user.
covered = $(CURDIR)/bin/cover
.PHONY: cover
cover: ## print which share of each package's statements make test runs, child processes included
	@rm -rf bin/cover && mkdir -p bin/cover && chmod 777 bin/cover
	@go test -short -timeout 20m -count=1 -cover -coverpkg=./... -exec 'env GOCOVERDIR=$(covered)' ./... \
		-args -test.gocoverdir=$(covered) >bin/cover.log || { grep -v '^ok' bin/cover.log; exit 1; }
	@go tool covdata percent -i=bin/cover

# PAGE=docs/x.md measures one page, and ONLY=text the commands that contain the text. Digests go to docs/outputs.yaml.
.PHONY: times
times: build ## measure the durations and the output that README and docs state, and write them there [PAGE= ONLY=]
	@go run ./internal/times -only $(call quote,$(ONLY)) -page $(call quote,$(PAGE)) README.md docs/*.md

# BASE: a commit. By instructions where perf or qemu-user (and cc) counts them, else by CPU time: it says which.
.PHONY: bench-self
bench-self: ## compare what this tree costs with what an earlier commit did: make bench-self BASE=HEAD~1 [ONLY=Explore]
	@test -n $(call quote,$(BASE)) || { echo "which commit? make bench-self BASE=HEAD~1" >&2; exit 64; }
	@go run ./internal/selfbench -base $(call quote,$(BASE)) -only $(call quote,$(ONLY))

.PHONY: additions
additions: ## have one copy of the tree take one more algorithm, fault, check, figure, option, study, service and command
	@go test -count=1 -run '^TestAdditionsAreAFileAndALine$$' ./commands

.PHONY: mutants
mutants: ## have checks and tests look for what is wrong with algorithms, or the testbed, after one change
	@cd algorithms/mutex && SOAK=1 go test -count=1 -run '^TestMutantsOfAlgorithms$$'
	@cd algorithms/election && SOAK=1 go test -count=1 -timeout 1h -run 'Mutant'
	@cd algorithms/detector && go test -count=1 -run 'Mutant'
	@cd bench && SOAK=1 go test -count=1 -run '^TestMutantsOfTheTestbed$$'

# Its lines come as they are printed, since it is run in its folder.
.PHONY: storm
storm: ## judge STORM_RUNS (100) runs that are stopped and starved, 200 that are killed, 1,200 garbled ones
	@cd commands && go test -count=1 -timeout 1h -parallel 4 -run '^TestStorm$$' \
		-storm $(call quote,$(STORM_RUNS)) -storm-seed $(call quote,$(STORM_SEED))
	@cd commands && SOAK=1 go test -count=1 -timeout 1h -run '^(TestKills|TestGarbled)'

.PHONY: check
check: ## look for what tests do not find: format, vet, staticcheck, go.mod, a core that browsers run
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted" >&2; exit 1; }
	go vet ./... ./commands/testdata/stormnode
	go tool staticcheck ./...
	go mod tidy -diff
	cd services && go mod tidy -diff && go run -modfile=../go.mod honnef.co/go/tools/cmd/staticcheck ./...
	cd services/lease && go mod tidy -diff
	cd examples/algorithm && go mod tidy -diff && go vet ./...
	GOOS=js GOARCH=wasm go build $$(go list ./nodes/... ./algorithms/... ./judge/... ./chaos/... ./draw/... | \
		grep -v '/nodes/host$$')
	GOOS=js GOARCH=wasm go vet ./play ./cmd/play

# A target that ends with nothing but "context deadline exceeded" found nothing: before Go 1.27 the end of
# FUZZTIME may be reported as a failure (go.dev/issue/75804). What fuzzing finds is printed as a failing input.
.PHONY: fuzz
fuzz: ## fuzz each target for FUZZTIME (5s)
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	grep -r --include='*_test.go' '^func Fuzz' . | sed -E 's|/[^/]*:func (Fuzz[A-Za-z]*).*| \1|' | \
		while read -r package target; do \
			echo "fuzzing $$target of $$package"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(call quote,$(FUZZTIME)) $$package >"$$log" 2>&1 && \
				{ cat "$$log"; continue; }; \
			cat "$$log"; \
			grep -A1 -e '^--- FAIL: ' "$$log" | tail -1 | grep -qx ' *context deadline exceeded' && \
				! grep -q 'Failing input written' "$$log" || exit 1; \
			echo "fuzzing $$target ended at its time, and found nothing"; \
		done

.PHONY: readme
readme: ## bring the tables of docs that are made from the program up to date
	@go test ./commands -run 'TestReadme|TestCoverage|TestFindings$$|Test.*Table$$' -update-readme

# Who led while the leader was cut off for a second: the report's picture, under a title that names no run. And the page
# of make play in Chromium, with two nodes inside.
.PHONY: pictures
pictures: build play ## draw docs/pictures, which README shows
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; mkdir -p docs/pictures; \
	for scheme in bully raft-election; do \
		bin/orchestrator simulate --algo $$scheme -n 5 --cut leader --at 1s --for 1s --seed 1 --no-progress \
			--results "$$dir" >/dev/null; test $$? -lt 2 || exit 1; \
		sed "s|Who led: simulate/[0-9a-z-]*|$$scheme: the leader is cut off for a second|g" \
			"$$dir/latest/ledger.svg" >docs/pictures/$$scheme.svg; \
	done
	@go test -count=1 ./play -run '^TestPageOfAScene$$' -page "$(CURDIR)/bin/play.html" -pictures "$(CURDIR)/docs/pictures"

# Programs in other modules can then require it by this path.
.PHONY: module
module: ## rename the Go module in the whole tree: make module MODULE=host.example/you/turnstile
	@sh .ci/module $(call quote,$(MODULE))

.PHONY: clean
clean: ## remove what was built, and no results
	@rm -rf bin dist
