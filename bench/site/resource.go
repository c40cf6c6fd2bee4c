package site

import (
	"context"
	"fmt"
	"time"

	"turnstile/hosts/cluster"
	"turnstile/nodes"
	"turnstile/nodes/host"
)

// A Resource is what the clients of a trial share.
type Resource interface {
	// TakeOut takes a node whose process has ended out of the register. It returns by how many units the
	// register may be wrong from now on.
	TakeOut(ctx context.Context, id nodes.ID, incarnation uint32) (Doubt, error)
	// Tickets returns the progress of a run that ends after a number of entries. If the resource process is
	// suspended, Tickets does not wait for it, and returns an older result.
	Tickets(ctx context.Context) (host.Tickets, error)
}

// A Doubt says by how many units the register of a resource may be wrong.
type Doubt struct {
	Resource int // number of the resource, and of the algorithm instance that guards it
	Units    int32
}

// OpenResource creates what the clients of a trial share. Path is the path of the file, if they share a file.
func (s *Site) OpenResource(ctx context.Context, path string, of host.Share) (Resource, error) {
	return s.keeper.open(ctx, path, of)
}

// A keeper keeps what clients share.
type keeper interface {
	open(ctx context.Context, path string, of host.Share) (Resource, error)
	// find returns where nodes reach what clients share, given the path for the trial: a file, or a broker.
	find(path string) (file string, at *host.Broker)
	processes() []cluster.Process
	close()
}

// files is a keeper that makes a file for each trial, which all nodes map.
type files struct{}

func (files) open(_ context.Context, path string, of host.Share) (Resource, error) {
	resources := len(of.Capacities)
	if err := host.CreateResource(path, resources, of.Nodes); err != nil {
		return nil, err
	}
	mapped, err := host.OpenResource(path, resources, of.Nodes)
	return sharedFile{mapped, resources}, err
}

func (files) find(path string) (string, *host.Broker) { return path, nil }
func (files) processes() []cluster.Process            { return nil }
func (files) close()                                  {}

// A sharedFile is a file that all processes map.
type sharedFile struct {
	of        *host.Resource
	resources int
}

func (s sharedFile) TakeOut(_ context.Context, id nodes.ID, _ uint32) (Doubt, error) {
	var d Doubt
	for number := range s.resources { // a node changes one register at a time, so at most one is in doubt
		if units := s.of.TakeOut(number, id); units > 0 {
			d = Doubt{number, units}
		}
	}
	return d, nil
}

func (s sharedFile) Tickets(context.Context) (host.Tickets, error) { return s.of.Tickets(), nil }

// A resourceProcess is a keeper in a process of its own, which nodes ask.
type resourceProcess struct{ of *cluster.Resource }

func (p resourceProcess) open(ctx context.Context, _ string, of host.Share) (Resource, error) {
	return &keptResource{of: p.of}, p.of.Keep(ctx, of)
}

func (p resourceProcess) find(string) (string, *host.Broker) { return "", p.of.Broker() }
func (p resourceProcess) processes() []cluster.Process       { return []cluster.Process{p.of.Process()} }
func (p resourceProcess) close()                             { p.of.Close() }

// A keptResource is a resource that a process keeps.
type keptResource struct {
	of      *cluster.Resource
	latest  host.Tickets
	looking chan look // gets the answer that Tickets did not wait for; nil: no question is open
}

// A look is an answer about the progress of a run.
type look struct {
	host.Tickets
	err error
}

// lookWait is how long Tickets waits for an answer.
const lookWait = 10 * time.Millisecond

func (k *keptResource) TakeOut(ctx context.Context, id nodes.ID, incarnation uint32) (Doubt, error) {
	if err := k.of.TakeOut(ctx, id, incarnation); err != nil {
		return Doubt{}, fmt.Errorf("taking node %d out of the register: %w", id, err)
	}
	return Doubt{}, nil // the process knows exactly what the node had taken
}

func (k *keptResource) Tickets(ctx context.Context) (host.Tickets, error) {
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
	case <-time.After(lookWait):
	}
	return k.latest, nil
}
