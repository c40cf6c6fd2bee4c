//go:build linux

package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/hosts/cluster"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

func TestMain(m *testing.M) { benchtest.Main(m) }

const impatience = benchtest.Impatience

// A takenApart is a trial whose parts a test can manipulate.
type takenApart struct {
	*Trial
	history string // file of the history, once the trial is over
}

// A judged is the result of a trial.
type judged struct {
	Verdict check.Verdict
	Row     measure.Figures
}

// takeApart prepares a trial, and starts its brokers, which end with the test.
func takeApart(t *testing.T, o bench.Options) *takenApart {
	t.Helper()
	spec, err := benchtest.Algorithm(o.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	j, err := bench.Resolve(catalog.Table{}, o, spec, false)
	if err != nil {
		t.Fatal(err)
	}
	p := benchtest.ThisProgram(t)
	s := site.Setup{Node: p.Node, Broker: p.Broker, Proxy: p.Proxy, Agent: p.Agent, Resource: p.Resource}
	if o.AsksProcess() { // as with several machines, all connections use TLS
		s.ControlKey = "of the test"
	}
	reserved, err := site.Reserve(t.Context(), &s, j)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	on, err := reserved.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(on.Close)
	dir := filepath.Join(folder, "logs-1")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return &takenApart{&Trial{Job: j, Number: 1, Seed: 1, Origin: 1, Dir: dir, Site: on,
		KeepFaults: func([]chaos.Fault) error { return nil },
		KeepFleet:  func(*site.FleetRecord) error { return nil }},
		filepath.Join(folder, "history")}
}

// make makes the trial, stores its history and judges it. It returns why the trial ended early, if it did.
func (r *takenApart) make(ctx context.Context, t *testing.T) (*judged, error) {
	t.Helper()
	trouble := r.Run(ctx)
	if err := history.Store(r.history, r.Dir); err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(r.history)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	j := r.Judge(h.Header, r.Setting(r.CameTo()))
	if err := h.RunContext(ctx, j); err != nil {
		t.Fatal(err)
	}
	j.Lead()
	got := &judged{j.Checks.Verdict(), j.Measures.Measures.Columns()}
	if trouble != nil && !errors.Is(trouble, ErrStalled) && got.Verdict.Outcome != check.Violated {
		got.Verdict.Outcome, got.Verdict.Reason = check.Inconclusive, trouble.Error()
	}
	return got, trouble
}

// errorf fails a test, or skips it if the trial shows nothing because the machine was busy.
func (j *judged) errorf(t *testing.T, format string, args ...any) {
	t.Helper()
	benchtest.Errorf(t, &j.Verdict, &j.Row, format, args...)
}

// sharedOf returns the file that the clients of a trial share.
func sharedOf(t *Trial) *host.Resource {
	shared, err := host.OpenResource(t.resourcePath(), t.ResourceCount(), t.Config.N)
	if err != nil {
		panic(err)
	}
	return shared
}

// resourceOf returns the process that keeps what clients share.
func resourceOf(s *site.Site) (kept cluster.Process) {
	for name, p := range s.Named() {
		if name == history.Resource {
			kept = p
		}
	}
	return kept
}
