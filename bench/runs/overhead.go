package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/bench/bare"
	"turnstile/bench/cluster"
	"turnstile/bench/option"
	"turnstile/bench/site"
	"turnstile/bench/trial"
	"turnstile/internal/stats"
	"turnstile/judge/check"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// OverheadOptions say how to measure the overhead of the testbed.
type OverheadOptions struct {
	Algorithm string // bare.Ring or bare.Ricart
	Nodes     int
	Pairs     int
	Warmup    time.Duration
	Duration  time.Duration // length of each measurement
	Seed      uint64

	WarmupLimit time.Duration // as in option.Run
}

// A Pair is a measurement of the testbed and one of the bare loop, one right after the other, in entries per
// second.
type Pair struct {
	Testbed float64 `json:"testbed"`
	Bare    float64 `json:"bare"`
}

// Ratio returns testbed / bare.
func (p Pair) Ratio() float64 { return p.Testbed / p.Bare }

// An OverheadResult has the pairs and the medians over them.
type OverheadResult struct {
	Algorithm string  `json:"algorithm"`
	Nodes     int     `json:"nodes"`
	Pairs     []Pair  `json:"pairs"`
	Testbed   float64 `json:"testbed_entries_per_s_median"`
	Bare      float64 `json:"bare_entries_per_s_median"`
	Ratio     float64 `json:"ratio_median"`
	Low       float64 `json:"ratio_low"` // lower end of an interval for the median ratio
	High      float64 `json:"ratio_high"`
	Coverage  float64 `json:"interval_coverage"` // probability that the interval holds the true median

	// Others is the median share of the machine that other processes used while the testbed was measured.
	Others float64 `json:"others_cpu_median"`

	Unlucky     int    `json:"unlucky"`      // how many pairs were made again, since one of their runs failed
	LastFailure string `json:"last_failure"` // why the last of these pairs failed

	others []float64 // for each run of the testbed, the share that other processes used
}

// Validate returns an error if the options do not suit this machine.
func (o OverheadOptions) Validate(s Setup) error {
	j, err := o.testbed(bare.Ring)
	if err != nil {
		return err
	}
	reserved, err := site.Reserve(context.Background(), &s.Setup, j)
	if err == nil {
		reserved.Cancel()
	}
	return err
}

// testbed returns the job of a run of the algorithm in the testbed.
func (o OverheadOptions) testbed(algorithm string) (*bench.Job, error) {
	spec, err := mutex.Find(algorithm)
	if err != nil {
		return nil, err
	}
	options := option.Defaults()
	options.Config.N, options.Seed = o.Nodes, o.Seed
	options.Warmup, options.WarmupLimit, options.Duration = o.Warmup, o.WarmupLimit, o.Duration
	return bench.Resolve(catalog.Table{}, options, spec, false)
}

// Overhead runs the same algorithm in the testbed, as users run it, and in a bare loop, and compares the
// entries per second. It alternates which of the two goes first, so that a machine that gets slower or faster
// favours neither.
func Overhead(ctx context.Context, o OverheadOptions, s Setup, onPair func(int, Pair)) (
	*OverheadResult, error) {
	r := &OverheadResult{Algorithm: o.Algorithm, Nodes: o.Nodes}
	err := r.measure(ctx, o.Pairs, [2]func() (float64, error){
		func() (float64, error) { return r.testbed(ctx, o, s) },
		func() (float64, error) { return overheadBare(ctx, o, s) },
	}, onPair)
	if err != nil {
		return nil, err
	}
	r.conclude()
	return r, nil
}

// measure makes the pairs. A pair that fails is made again: one unlucky run on a busy machine is no reason to
// lose the others.
func (r *OverheadResult) measure(ctx context.Context, pairs int, of [2]func() (float64, error),
	onPair func(int, Pair)) error {
	for len(r.Pairs) < pairs {
		first := (len(r.Pairs) + r.Unlucky) % 2
		var rates [2]float64
		var err error
		for i := range of {
			which := (first + i) % 2
			if rates[which], err = of[which](); err != nil {
				break
			}
		}
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted after %d of %d pairs of %s", len(r.Pairs), pairs, r.Algorithm)
		case err == nil:
			r.Pairs = append(r.Pairs, Pair{Testbed: rates[0], Bare: rates[1]})
			if onPair != nil {
				onPair(len(r.Pairs), r.Pairs[len(r.Pairs)-1])
			}
		case r.Unlucky+1 == pairs:
			return fmt.Errorf("given up, since %d pairs of %s failed; the last: %w", pairs, r.Algorithm, err)
		default:
			r.Unlucky, r.LastFailure = r.Unlucky+1, err.Error()
		}
	}
	return nil
}

// conclude computes the medians. It also computes an interval between two of the sorted ratios that holds the
// true median with a probability of at least 95%, or as much as the number of pairs allows.
func (r *OverheadResult) conclude() {
	var testbed, plain, ratios []float64
	for _, p := range r.Pairs {
		testbed, plain = append(testbed, p.Testbed), append(plain, p.Bare)
		ratios = append(ratios, p.Ratio())
	}
	if len(r.others) > 0 {
		r.Others = stats.Median(r.others).Value
	}
	e := stats.Median(ratios)
	r.Testbed, r.Bare, r.Ratio = stats.Median(testbed).Value, stats.Median(plain).Value, e.Value
	r.Low, r.High, r.Coverage = e.Low, e.High, e.Coverage
	if !e.Bounded() {
		// The true median lies outside all ratios only if all pairs fall on one side of it.
		r.Low, r.High, r.Coverage = slices.Min(ratios), slices.Max(ratios), 1-math.Exp2(1-float64(len(ratios)))
	}
}

// testbed measures a run in the testbed, with all its records and checks.
func (r *OverheadResult) testbed(ctx context.Context, o OverheadOptions, s Setup) (float64, error) {
	j, err := o.testbed(o.Algorithm)
	if err != nil {
		return 0, err
	}
	run, err := Make(ctx, j, s)
	if err != nil {
		return 0, err
	}
	t := run.Trials[0]
	if others, known := t.Measures.OthersCPU.Value(); known {
		r.others = append(r.others, others)
	}
	rate, ok := t.Measures.EntriesPerS.Value()
	if !ok || t.Verdict.Outcome != check.Valid {
		return 0, fmt.Errorf("the testbed's run %s is %v: %s", run.Folder.Path, t.Verdict.Outcome, t.Verdict.Reason)
	}
	return rate, nil
}

// overheadBare measures the bare loop, over a broker as the testbed starts it.
func overheadBare(ctx context.Context, o OverheadOptions, s Setup) (rate float64, err error) {
	launcher := cluster.NewLauncher()
	broker, err := cluster.LaunchBrokers(ctx, []cluster.Host{launcher}, s.Broker, "the broker", 1,
		&cluster.Proxies{}, nil)
	if err != nil {
		return 0, err
	}
	defer broker.Close()
	url, token := broker.URL(0), broker.Token()
	var processes []cluster.Node
	defer func() {
		for _, p := range processes {
			p.Signal(syscall.SIGKILL)
			<-p.Ended()
		}
	}()
	b, err := newBareRun(url, token, o.Nodes)
	if err != nil {
		return 0, err
	}
	defer b.conn.Close()
	for id := range o.Nodes {
		input, err := json.Marshal(map[string]bare.Config{"bare": {URL: url, Token: token,
			Node: uint32(id), N: uint32(o.Nodes), Algorithm: o.Algorithm}})
		if err != nil {
			return 0, err
		}
		p, err := launcher.Start(cluster.Command{Name: fmt.Sprintf("bare node %d", id), Program: s.NodeProgram(),
			Env: cluster.NodeEnv, Input: input}, nil)
		if err != nil {
			return 0, err
		}
		processes = append(processes, p)
	}
	return b.measure(ctx, o)
}

// A bareRun is the orchestrator's side of a run of the bare loop.
type bareRun struct {
	nodes  int
	conn   *nats.Conn
	counts chan *nats.Msg
}

func newBareRun(url, token string, nodeCount int) (*bareRun, error) {
	conn, err := nats.Connect(url, nats.Token(token), nats.Timeout(host.JoinTimeout))
	if err != nil {
		return nil, err
	}
	b := &bareRun{nodeCount, conn, make(chan *nats.Msg, 4*nodeCount)}
	if _, err := conn.ChanSubscribe(bare.Counts, b.counts); err != nil {
		return nil, err
	}
	return b, conn.Flush()
}

// numbers waits for a number from every node. It returns their sum, the least of them, and when the last one
// came.
func (b *bareRun) numbers(ctx context.Context) (total, least uint64, at time.Time, err error) {
	deadline := time.After(30 * time.Second)
	least = math.MaxUint64
	for range b.nodes {
		select {
		case m := <-b.counts:
			n, err := strconv.ParseUint(string(m.Data), 10, 64)
			if err != nil {
				return 0, 0, at, err
			}
			total, least = total+n, min(least, n)
		case <-ctx.Done():
			return 0, 0, at, trial.ErrInterrupted
		case <-deadline:
			return 0, 0, at, fmt.Errorf("the bare nodes do not answer")
		}
	}
	return total, least, time.Now(), nil
}

// order publishes an order to all nodes.
func (b *bareRun) order(order string) error {
	if err := b.conn.Publish(bare.Orders, []byte(order)); err != nil {
		return err
	}
	return b.conn.Flush()
}

// count waits, and then asks all nodes how many entries they have made. It returns the total, the least
// number of a node, and the time of the count.
func (b *bareRun) count(ctx context.Context, after time.Duration) (
	total, least uint64, at time.Time, err error) {
	select {
	case <-time.After(after):
	case <-ctx.Done():
		return 0, 0, at, trial.ErrInterrupted
	}
	asked := time.Now()
	if err := b.order(bare.Count); err != nil {
		return 0, 0, at, err
	}
	total, least, answered, err := b.numbers(ctx)
	return total, least, asked.Add(answered.Sub(asked) / 2), err
}

// measure starts all nodes at once, and returns their entries per second after a warm-up as in the testbed.
func (b *bareRun) measure(ctx context.Context, o OverheadOptions) (float64, error) {
	if _, _, _, err := b.numbers(ctx); err != nil { // all nodes are up
		return 0, err
	}
	if err := b.order(bare.Start); err != nil {
		return 0, err
	}
	limit := time.Now().Add(o.WarmupLimit)
	first, least, from, err := b.count(ctx, o.Warmup)
	for err == nil && least < workload.SteadyEntries && from.Before(limit) {
		first, least, from, err = b.count(ctx, 200*time.Millisecond)
	}
	if err != nil {
		return 0, err
	}
	last, _, to, err := b.count(ctx, o.Duration)
	return float64(last-first) / to.Sub(from).Seconds(), err
}
