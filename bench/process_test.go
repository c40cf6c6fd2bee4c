//go:build linux

package bench

import (
	"context"
	"os"
	"testing"
	"time"

	"turnstile/bench/cluster"
	"turnstile/bench/option"
	"turnstile/internal/certs"
	"turnstile/nodes/catalog"
	"turnstile/nodes/detector"
	"turnstile/nodes/row"
)

// rowOf finds the row of an algorithm, one of those of the tests included.
func rowOf(name string) (*row.Row, error) {
	if spec := stuckSpec(name); spec.New != nil {
		return spec, nil
	}
	return row.Find("algorithm", append(catalog.All(), detector.Table...), name)
}

// setup returns how tests make runs: all processes are this program again.
func setup(t *testing.T) Setup {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Setup{Results: t.TempDir(), Set: "set", Node: program, Broker: []string{program, testBroker},
		Proxy: []string{program, testProxy}, Agent: []string{program, testAgent},
		Resource: []string{program, testResource}}
}

// impatience is the patience of runs that are expected to stall. It is longer than what a trial does between
// two looks at its counters.
const impatience = 100 * time.Millisecond

// makeRun makes a run of real processes.
func makeRun(t *testing.T, o Options) (*Run, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	spec, err := rowOf(o.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Make(ctx, resolved(t, spec, o), setup(t))
	if r == nil || len(r.Trials) == 0 {
		t.Fatalf("there is no trial: %v", err)
	}
	return r, err
}

// A takenApart is a run of one trial, for tests that have a hand in it.
type takenApart struct {
	*Run
	trial *trial
}

// takeApart begins a run of one trial, whose brokers are up. It ends with the test.
func takeApart(t *testing.T, o Options) *takenApart {
	t.Helper()
	spec, err := rowOf(o.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	s := setup(t)
	j := drafted(t, spec, o, false)
	if o.Hosts > 0 { // a draft does not know where its nodes are
		j = resolved(t, spec, o)
		if err := s.findHosts(j); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.begin(*j)
	if err != nil {
		t.Fatal(err)
	}
	launcher := cluster.NewLauncher()
	carrier := &transport{site: s.here(launcher)}
	if j.Hosts > 0 {
		if carrier.site, err = s.muster(t.Context(), launcher, j, r.Folder.Path); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(carrier.site.fleet.close)
		if o.Resource == option.ResourceProcess { // as across machines, where all speak TLS
			if carrier.site.tls, err = certs.New("run"); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(func() { carrier.close() })
	if err := carrier.launch(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	dir := r.Folder.LogFolder(1)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return &takenApart{r, &trial{Job: j, seed: 1, origin: r.Record.origin(1), dir: dir,
		startNode: carrier.site.starter(j), transport: carrier, keepFleet: r.keepFleet}}
}

// make makes the trial, and returns what it was and why it ended early, if it did.
func (r *takenApart) make(ctx context.Context, t *testing.T) (*Trial, error) {
	t.Helper()
	trouble := r.trial.run(ctx)
	if err := r.finish(ctx, r.trial, 1, trouble); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(r.trial.dir); len(left) > 0 {
		t.Errorf("%v are left behind: %v", left, err)
	}
	return r.Trials[0], trouble
}
