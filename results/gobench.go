package results

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"turnstile/internal/figure"
	"turnstile/option"
)

// GoBench prints rows as the results of Go benchmarks, a line per trial, for benchstat to compare. One
// operation is one entry. Algorithm, options, load and nodes are in the name of a benchmark, and all other
// parameters in configuration lines above it, so benchstat merges exactly the repetitions of one experiment.
// GoBench leaves out figures that are unknown or only lower bounds.
func GoBench(w io.Writer, rows []Row) error {
	var b strings.Builder
	b.WriteString("Unit entries/s better=higher\nUnit msgs/entry better=lower\nUnit B/entry better=lower\n")
	written := map[string]string{}
	configure := func(key, value string) {
		if value != written[key] {
			written[key] = value
			b.WriteString(strings.TrimSpace(key+": "+value) + "\n")
		}
	}
	for _, r := range rows {
		figures := goFigures(&r)
		if figures == "" {
			continue
		}
		configure("version", r.Version)
		for _, c := range columnsOf(reflect.TypeFor[Asked]()) {
			if !c.options && c.header != "algorithm" && c.header != "load" && c.header != "nodes" {
				configure(c.header, r.Text(c.header))
			}
		}
		fmt.Fprintf(&b, "%s 1%s\n", goName(&r), figures)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// goName returns the name of a benchmark. It ends with the number of nodes, since a dash and a number at the
// end would be read as the number of processors.
func goName(r *Row) string {
	name := "BenchmarkMutex/algorithm=" + r.Algorithm
	for _, option := range slices.Sorted(maps.Keys(r.Options)) {
		name += "/" + option + "=" + strings.NewReplacer(" ", "_", "/", "_").Replace(r.Options[option])
	}
	return fmt.Sprintf("%s/load=%s/nodes=%d", name, r.Asked.Cell(option.LoadColumn), r.Nodes)
}

func goFigures(r *Row) string {
	var perEntry figure.Figure
	if rate, known := r.EntriesPerS.Value(); known {
		perEntry = figure.Ratio(1e9, rate)
	}
	var b strings.Builder
	for _, f := range []struct {
		figure figure.Figure
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
			fmt.Fprintf(&b, " %v %s", figure.Number(x*f.scale), f.unit)
		}
	}
	return b.String()
}
