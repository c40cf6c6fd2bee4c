package runs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"turnstile/bench"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/hosts/agent"
	"turnstile/results"

	"github.com/nats-io/nats.go"
)

// faults returns the faults of a trial, by its number: the ones on record, or otherwise the plan's.
func (r *Run) faults(number int) []chaos.Fault {
	if number <= len(r.Record.Trials) && len(r.Record.Trials[number-1].Faults) > 0 {
		p := r.Placement()
		return chaos.OnHosts(r.Record.Trials[number-1].Faults, &p)
	}
	faults, _ := r.FaultsAsked(number, bench.TrialSeed(r.Seed, number)) // the faults are valid
	return faults
}

// keepFaults writes the faults of a trial that differ from the plan's to run.yaml, so that they are known
// even if the orchestrator is killed.
func (r *Run) keepFaults(number int, all []chaos.Fault) error {
	injected := maps.Clone(r.Injected) // the map may be shared with another run
	if injected == nil {
		injected = map[int][]chaos.Fault{}
	}
	injected[number] = slices.Clone(all)
	r.Injected = injected
	r.Record.Options = r.Options
	return r.Folder.WriteYAML(r.Record)
}

// keepFleet writes the hosts of the run to run.yaml.
func (r *Run) keepFleet(f *site.FleetRecord) error {
	r.Record.Fleet = f
	return r.Folder.WriteYAML(r.Record)
}

// Fetch copies into a run's folder the files that the hosts kept because the orchestrator ended before it had
// fetched all. It returns from how many folders it copied.
func Fetch(ctx context.Context, conn *nats.Conn, version string, folder *results.Folder) (
	count int, err error) {
	record, err := ReadRecord(folder)
	switch {
	case err != nil:
		return 0, err
	case record.Fleet == nil || record.Fleet.Name == "":
		return 0, fmt.Errorf("%s was made without hosts of a control plane: there is nothing to fetch",
			folder.Ref())
	case !record.Unfinished():
		return 0, fmt.Errorf("%s is finished, and was judged without lost hosts: --clean "+
			"removes what a host that came back has left of it", folder.Ref())
	}
	if err := goesOn(folder); err != nil {
		return 0, fmt.Errorf("%s: %w", folder.Ref(), err)
	}
	found, err := site.Find(conn)
	if err != nil {
		return 0, err
	}
	for _, d := range found {
		for number := 1; number <= record.Options.Trials; number++ {
			dir := folder.LogFolder(number)
			if _, wrong := os.Stat(dir); wrong != nil {
				continue
			}
			left := site.LeftFolder(record.Fleet.Name, filepath.Base(dir))
			if !slices.Contains(d.Left, left) {
				continue
			}
			err = errors.Join(err, site.Adopt(ctx, conn, d, version, left, func(h *agent.Machine) error {
				return h.Fetch(ctx, dir)
			}))
			count++
		}
	}
	return count, err
}
