package bench

import (
	"context"
	"errors"

	"turnstile/bench/cluster"
	"turnstile/bench/option"
	"turnstile/bench/service"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// An OverheadService is a lock service whose price of the pipe is measured: its row, its configuration and
// its servers.
type OverheadService struct {
	Row     *row.Row
	Config  nodes.Config // of one node
	Servers chaos.Servers
}

// job returns the run of one client in the testbed.
func (o OverheadOptions) job(of *OverheadService) (*Job, error) {
	options := option.Defaults()
	options.Config, options.Servers, options.Seed = of.Config, of.Servers, o.Seed
	options.Config.N = 1
	options.Warmup, options.WarmupLimit, options.Duration = o.Warmup, o.WarmupLimit, o.Duration
	return Resolve(options, of.Row, false)
}

// ServiceOverhead measures the price of the pipe: one client of a service through a node process, its lines
// and records, as users run it, and the same client called directly in a process of its own, in turn. Each
// has servers of its own. In the pairs, the latter is Bare.
func ServiceOverhead(ctx context.Context, o OverheadOptions, of *OverheadService, s Setup,
	onPair func(int, Pair)) (*OverheadResult, error) {
	r := &OverheadResult{Algorithm: of.Row.Name, Nodes: 1}
	err := r.measure(ctx, o.Pairs, [2]func() (float64, error){
		func() (float64, error) {
			j, err := o.job(of)
			if err != nil {
				return 0, err
			}
			return r.inTestbed(ctx, j, s)
		},
		func() (float64, error) { return o.direct(ctx, of, s) },
	}, onPair)
	if err != nil {
		return nil, err
	}
	r.conclude()
	return r, nil
}

// direct returns how many entries a client makes in a second that is called directly.
func (o OverheadOptions) direct(ctx context.Context, of *OverheadService, s Setup) (rate float64, err error) {
	p, err := s.ServiceProgram(of.Config)
	if err != nil {
		return 0, err
	}
	servers, err := service.Launch(ctx, cluster.NewLauncher(), p)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, servers.Close()) }()
	d, err := p.Direct(ctx, servers.Addresses, o.Duration)
	if err != nil {
		return 0, err
	}
	return float64(d.Entries) / d.Seconds, nil
}
