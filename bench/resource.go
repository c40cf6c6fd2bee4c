package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"turnstile/bench/cluster"
	"turnstile/bench/option"
	"turnstile/nodes"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// checkResource says what is wrong with where clients are to find what they share, and completes it: the
// empty word stands for the file.
func (j *Job) checkResource(simulated bool) error {
	if j.Resource == option.ResourceFile {
		j.Resource = ""
	}
	switch known := []string{"", option.ResourceProcess}; {
	case !slices.Contains(known, j.Resource):
		return fmt.Errorf("resource: there is none as %q: take %s or %s", j.Resource,
			option.ResourceFile, option.ResourceProcess)
	case simulated && j.AsksProcess():
		return fmt.Errorf("resource: a simulation has no processes: take --resource %s, or a run of processes",
			option.ResourceFile)
	}
	return nil
}

// witnesses are what the clients of a trial share, as the orchestrator sees it.
type witnesses interface {
	// takeOut takes a node whose process has ended out of the register, and returns by how many units that may
	// err from now on.
	takeOut(ctx context.Context, id nodes.ID, incarnation uint32) (doubt, error)
	// tickets returns how far a run that ends by entries has come. It does not wait for a process that stands
	// still: what it returns may be older by then.
	tickets(ctx context.Context) (host.Tickets, error)
}

// openResource makes what the clients of the trial share.
func (t *trial) openResource() (err error) {
	resources := t.ResourceCount()
	if kept := t.transport.resource; kept != nil {
		t.nodes.resource = &keptResource{of: kept}
		return kept.Keep(t.nodes.ctx, host.Share{Run: t.name, Nodes: t.Config.N,
			Capacities: slices.Repeat([]int{t.Config.Capacity()}, resources), Entries: t.ticketsOfNodes()})
	}
	if err := host.CreateResource(t.resourcePath(), resources, t.Config.N); err != nil {
		return err
	}
	mapped, err := host.OpenResource(t.resourcePath(), resources, t.Config.N)
	t.nodes.resource = sharedFile{mapped, resources}
	return err
}

// A doubt says by how many units the register of a resource may be wrong.
type doubt struct {
	resource int // its number, and that of its instance: resources come first in a stack
	units    int32
}

// A sharedFile is a file that all processes map.
type sharedFile struct {
	of        *host.Resource
	resources int
}

func (s sharedFile) takeOut(_ context.Context, id nodes.ID, _ uint32) (doubt, error) {
	var d doubt
	for number := range s.resources { // a node changes one register at a time, so one is in doubt at most
		if units := s.of.TakeOut(number, id); units > 0 {
			d = doubt{number, units}
		}
	}
	return d, nil
}

func (s sharedFile) tickets(context.Context) (host.Tickets, error) { return s.of.Tickets(), nil }

// A keptResource is one that a process keeps.
type keptResource struct {
	of      *cluster.Resource
	latest  host.Tickets
	looking chan look // an answer that was not waited for; nil: none
}

// A look is the answer to a question how far a run has come.
type look struct {
	host.Tickets
	err error
}

func (k *keptResource) takeOut(ctx context.Context, id nodes.ID, incarnation uint32) (doubt, error) {
	if err := k.of.TakeOut(ctx, id, incarnation); err != nil {
		return doubt{}, fmt.Errorf("taking node %d out of the register: %w", id, err)
	}
	return doubt{}, nil // the process knows what the node had taken
}

func (k *keptResource) tickets(ctx context.Context) (host.Tickets, error) {
	if k.looking == nil {
		looking := make(chan look, 1)
		k.looking = looking
		go func() {
			tickets, err := k.of.Look(ctx)
			looking <- look{tickets, err}
		}()
	}
	select {
	case l := <-k.looking:
		k.looking = nil
		if l.err != nil {
			return k.latest, l.err
		}
		k.latest = l.Tickets
	case <-time.After(tick):
	}
	return k.latest, nil
}

// ticketsOfNodes returns how many requests the nodes of a run that ends by entries make together; 0: they are
// asked for each, or it ends by time.
func (j *Job) ticketsOfNodes() uint64 {
	if j.Workload.Load == workload.Sequential {
		return 0
	}
	return j.Entries
}
