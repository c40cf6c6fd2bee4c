package results

import (
	"fmt"
	"io"
	"strings"
)

// GoBench prints rows as the results of Go benchmarks, a line per trial, for benchstat to compare.
// One operation is one entry. What was not measured, or is known as a bound only, is left out.
func GoBench(w io.Writer, rows []Row) error {
	var b strings.Builder
	b.WriteString("Unit entries/s better=higher\nUnit msgs/entry better=lower\nUnit B/entry better=lower\n")
	for _, r := range rows {
		figures := goFigures(&r)
		if figures != "" {
			fmt.Fprintf(&b, "%s 1%s\n", goName(&r), figures)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// goName names what the trial was of. Its last part is never a word with a dash and a number, which
// would be taken for a number of processors.
func goName(r *Row) string {
	name := "BenchmarkMutex"
	add := func(key, value string) {
		if value != "" {
			name += "/" + key + "=" + strings.NewReplacer(" ", "_", "/", "_").Replace(value)
		}
	}
	add("algo", r.Algorithm)
	add("load", r.Workload)
	if r.Kind != "bench" {
		add("kind", r.Kind)
	}
	if r.Multicast {
		add("multicast", "true")
	}
	add("plan", r.Plan)
	add("hold_us", r.HoldUS.String())
	add("latency_us", r.LatencyUS.String())
	add("n", fmt.Sprint(r.Nodes))
	return name
}

func goFigures(r *Row) string {
	var perEntry Figure
	if rate, known := r.EntriesPerS.Value(); known {
		perEntry = Ratio(1e9, rate)
	}
	var b strings.Builder
	for _, f := range []struct {
		figure Figure
		scale  float64
		unit   string
	}{
		{perEntry, 1, "ns/op"},
		{r.EntriesPerS, 1, "entries/s"},
		{r.MessagesPerEntry, 1, "msgs/entry"},
		{r.BytesPerEntry, 1, "B/entry"},
		{r.WaitUSP50, 1000, "wait-p50-ns"},
		{r.WaitUSP99, 1000, "wait-p99-ns"},
		{r.SynchronizationDelayUSP50, 1000, "sync-delay-p50-ns"},
	} {
		if x, known := f.figure.Value(); known && !f.figure.IsBound() {
			fmt.Fprintf(&b, " %v %s", Number(x*f.scale), f.unit)
		}
	}
	return b.String()
}
