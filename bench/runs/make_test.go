package runs

import (
	"io"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/option"
)

// The options are parsed once, when the job is made.
func TestOptionsAreResolvedOnce(t *testing.T) {
	algo, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	looks, counted := 0, *algo
	look := func(nodes.Config, string) error { looks++; return nil }
	counted.Options = append(counted.Options, nodes.Option{Name: "looked-at", Default: "0", Check: look})
	o := option.Defaults()
	o.Config.N, o.Duration, o.Warmup, o.WarmupLimit, o.Trials = 3, 50*time.Millisecond, 0, 0, 2
	o.Latency = chance.Constant(time.Millisecond)
	j, err := bench.Resolve(catalog.Table{}, o, &counted, true)
	if err != nil {
		t.Fatal(err)
	}
	resolving := looks
	r, err := Make(t.Context(), j, Setup{Results: t.TempDir(), Set: "set"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Trials {
		io.WriteString(io.Discard, r.Summary().VerdictText(i))
	}
	j.Remarks(2)
	j.TooShort()
	j.Scene()
	if more := looks - resolving; resolving == 0 || more != 0 {
		t.Errorf("%d looks to resolve the options, and %d more by %d trials", resolving, more, o.Trials)
	}
}

// simulateRun makes a simulated run.
func simulateRun(t testing.TB, spec *algorithm.Algorithm, o bench.Options, s Setup) (*Run, error) {
	t.Helper()
	j, err := bench.Resolve(catalog.Table{}, o, spec, true)
	if err != nil {
		return nil, err
	}
	return Make(t.Context(), j, s)
}

// resolved returns the job of a run of processes.
func resolved(t testing.TB, spec *algorithm.Algorithm, o bench.Options) *bench.Job {
	t.Helper()
	j, err := bench.Resolve(catalog.Table{}, o, spec, false)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// tryRun makes a simulated run, and stores nothing.
func tryRun(t testing.TB, spec *algorithm.Algorithm, o bench.Options) (*bench.Tried, error) {
	t.Helper()
	j, err := bench.Resolve(catalog.Table{}, o, spec, true)
	if err != nil {
		return nil, err
	}
	return Try(t.Context(), j, Setup{})
}

// drafted returns the job of options that need not be complete.
func drafted(t testing.TB, spec *algorithm.Algorithm, o bench.Options, simulated bool) *bench.Job {
	t.Helper()
	d, err := bench.NewDraft(catalog.Table{}, o, spec, simulated)
	if err != nil {
		t.Fatal(err)
	}
	return d.Unchecked()
}
