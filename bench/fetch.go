package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"turnstile/bench/agent"
	"turnstile/internal/broker"
	"turnstile/results"
)

// A HostRecord is what run.yaml says of a host of the run.
type HostRecord struct {
	Name     string `yaml:"name"`
	Address  string `yaml:"address"`
	Cores    int    `yaml:"cores"`
	MemoryMB int    `yaml:"memory_mb"`
}

// A FleetRecord is what run.yaml says of the hosts of a run.
type FleetRecord struct {
	// Name is that of the run at the control plane. Hosts keep its files in folders whose names begin with
	// it, until they are fetched; empty: the agents were the run's own.
	Name   string       `yaml:"name,omitempty"`
	Shares bool         `yaml:"shares_memory"` // the hosts have one kernel, and see one folder
	Hosts  []HostRecord `yaml:"hosts"`
}

// record describes the fleet.
func (f *fleet) record() *FleetRecord {
	r := &FleetRecord{Shares: !f.apart()}
	if f.own == nil {
		r.Name = f.run.Name
	}
	for _, h := range f.hosts {
		r.Hosts = append(r.Hosts, HostRecord{h.Name, h.Address(), h.Cores, h.MemoryMB})
	}
	return r
}

// keepFleet writes to run.yaml which hosts the run has.
func (r *Run) keepFleet(f *FleetRecord) error {
	r.Record.Fleet = f
	return r.Folder.WriteYAML(r.Record)
}

// leftFolder returns the name of the folder in which hosts keep what a trial has left.
func leftFolder(fleet, trial string) string { return fleet + "-" + trial }

// Fetch copies what the hosts of a run have kept, whose orchestrator has ended before it had all, into the
// run's folder. It returns from how many folders it did so.
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
		return 0, fmt.Errorf("%s is finished, and was judged by what its hosts had to give then: what a host that "+
			"came back has left of it is removed by --clean", folder.Ref())
	}
	if err := goesOn(folder); err != nil {
		return 0, fmt.Errorf("%s: %w", folder.Ref(), err)
	}
	found, err := agent.Find(conn, findLimit)
	if err != nil {
		return 0, err
	}
	for _, d := range found {
		for number := 1; number <= record.Options.Trials; number++ {
			dir := folder.LogFolder(number)
			if _, wrong := os.Stat(dir); wrong != nil {
				continue
			}
			left := leftFolder(record.Fleet.Name, filepath.Base(dir))
			if !slices.Contains(d.Left, left) {
				continue
			}
			err = errors.Join(err, adopt(ctx, conn, d, version, left, func(h *agent.Host) error {
				return h.Fetch(ctx, dir)
			}))
			count++
		}
	}
	return count, err
}

// CleanHosts has all hosts remove what runs have left there that nobody has fetched, and returns what that
// was.
func CleanHosts(ctx context.Context, conn *nats.Conn, version string) (removed []string, err error) {
	found, err := agent.Find(conn, findLimit)
	for _, d := range found {
		for _, left := range d.Left {
			wrong := adopt(ctx, conn, d, version, left, func(*agent.Host) error { return nil })
			if err = errors.Join(err, wrong); wrong == nil {
				removed = append(removed, d.Name+": "+left)
			}
		}
	}
	return removed, err
}

// adopt does something with the files of a run that a host has kept, and then has it remove them.
func adopt(ctx context.Context, conn *nats.Conn, d agent.Description, version, left string,
	do func(*agent.Host) error) error {
	run, err := agent.NewRun(conn, strings.ToLower(broker.NewToken()[:12]))
	if err != nil {
		return err
	}
	defer run.Close()
	h, err := run.Join(ctx, d,
		agent.Join{Version: version, User: whoAmI(), What: "fetching files", Adopt: left})
	if err != nil {
		return err
	}
	if err = do(h); err == nil {
		err = h.Clear(ctx)
	}
	return errors.Join(err, h.End(ctx))
}
