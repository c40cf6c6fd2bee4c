package runs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/bench"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// leaves lists the values in v with their paths.
func leaves(v reflect.Value, path string) (paths []string, values []reflect.Value) {
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[chance.Distribution]() {
		return []string{path}, []reflect.Value{v}
	}
	for i := range v.NumField() {
		p, at := leaves(v.Field(i), path+"."+v.Type().Field(i).Name)
		paths, values = append(paths, p...), append(values, at...)
	}
	return paths, values
}

// change gives v another value.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch to := v.Addr().Interface().(type) {
	case *chance.Distribution:
		*to = chance.Constant(7 * time.Hour)
	case *map[string]string:
		*to = map[string]string{"tree": "line"}
	case *[]string:
		*to = append(*to, "eu")
	case *[][]chance.Distribution:
		*to = [][]chance.Distribution{{chance.Constant(time.Hour)}}
	case *[]chaos.Fault:
		*to = []chaos.Fault{{Effect: &effect.Duplicate{}, Schedule: chaos.Schedule{At: time.Second}}}
	case *map[int][]chaos.Fault:
		*to = map[int][]chaos.Fault{1: {{Effect: &effect.Duplicate{}, Schedule: chaos.Schedule{At: time.Second}}}}
	case *bool:
		*to = !*to
	default:
		switch v.Kind() {
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Float64:
			v.SetFloat(v.Float() + 1)
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 2)
		case reflect.Uint64:
			v.SetUint(v.Uint() + 1)
		case reflect.Slice:
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		default:
			t.Fatalf("there is no other %v", v.Type())
		}
	}
}

// askedRecord returns one of several records, and the options in it.
func askedRecord(i int) (r *Record, paths []string, values []reflect.Value) {
	r = &Record{Options: option.Defaults()}
	r.Options.Workload.Load = []workload.Load{workload.Closed, workload.Open}[i%2]
	if i == 6 {
		r.Options.Workload.Load = workload.Campaign
	}
	if i/2 == 1 {
		r.Options.Regions.Names = []string{"us"}
	}
	paths, values = leaves(reflect.ValueOf(&r.Options).Elem(), "Options")
	r.Simulated = i/2 == 2
	return r, paths, values
}

// Two runs with different options have different rows.
func TestAllThatIsAskedForHasAColumn(t *testing.T) {
	differs := map[string]bool{"Options.Trials": true, "Options.Seed": true, // columns of the trial
		"Options.Workload.Campaigns": true, // their number follows from the time between campaigns
		"Options.ResourceNames":      true, // what resources are called, not what the run does
		"Options.Trace":              true, // what is stored of the run, not what it does
		"Options.Config.Regions":     true, // which follow from the regions and the hosts
		"Options.Config.Hosts":       true}
	for _, key := range []string{"Service", "Count", "Leads", "Promotes", "Peers", "Deletes", "Queues",
		"Expires", "NoClock", "Recovers"} {
		differs["Options.Servers."+key] = true // which follow from the service and its options
	}
	for i := range 7 {
		before, paths, _ := askedRecord(i)
		for j, path := range paths {
			r, _, values := askedRecord(i)
			change(t, values[j])
			differs[path] = differs[path] || !reflect.DeepEqual(r.asked(), before.asked())
		}
	}
	for path, does := range differs {
		if !does {
			t.Errorf("runs that differ in %s have the same row", path)
		}
	}
}

// runsOfAllColumns returns the options of runs that together fill every column.
func runsOfAllColumns(t *testing.T) []bench.Options {
	ms := chance.Constant(time.Millisecond)
	cut, err := effect.ParseCut("0/1")
	if err != nil {
		t.Fatal(err)
	}
	all := []bench.Options{
		{Algorithm: "raymond", Config: nodes.Config{N: 3}, Latency: ms, Duration: time.Second,
			WarmupLimit: time.Minute, Workload: workload.Workload{Load: workload.Open, Rate: 10}},
		{Algorithm: "raymond", Config: nodes.Config{N: 3}, Latency: ms, Duration: time.Second, Plan: "mine",
			Workload: workload.Workload{Load: workload.Saturated, Hold: ms}, Detector: "heartbeat:timeout=200ms",
			Faults: []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{1}}},
				Schedule: chaos.Schedule{At: 300 * time.Millisecond}}}},
		{Algorithm: "central", Config: nodes.Config{N: 3}, Latency: ms, Duration: time.Second,
			Workload: workload.Workload{Load: workload.Saturated},
			Faults: []chaos.Fault{{Effect: &effect.Partition{Cut: cut},
				Schedule: chaos.Schedule{For: time.Second}}}},
		{Algorithm: "ricart-agrawala", Config: nodes.Config{N: 3}, Latency: ms, Duration: time.Second,
			Workload: workload.Workload{Load: workload.Saturated},
			Faults: []chaos.Fault{{Effect: &effect.Pause{Who: effect.Target{List: nodes.Group{1}}},
				Schedule: chaos.Schedule{At: 300 * time.Millisecond, For: 200 * time.Millisecond}}}},
		{Algorithm: "lamport", Config: nodes.Config{N: 3}, Latency: ms, Entries: 50, Trace: true,
			Workload: workload.Workload{Load: workload.Saturated}},
		{Algorithm: "lamport", Config: nodes.Config{N: 3}, Entries: 50,
			Workload: workload.Workload{Load: workload.Sequential},
			Regions:  chaos.Regions{Names: []string{"eu"}, Latency: [][]chance.Distribution{{ms}}}},
		{Algorithm: "lamport", Config: nodes.Config{N: 3}, Latency: ms, Entries: 50, Hosts: 2, Place: "blocks",
			Workload: workload.Workload{Load: workload.Saturated}},
		{Algorithm: "token-ring", Config: nodes.Config{N: 3}.With("order", "2,0,1"), Latency: ms, Entries: 50,
			Workload: workload.Workload{Load: workload.Saturated}},
		{Algorithm: "maekawa", Config: nodes.Config{N: 4}, Latency: ms, Entries: 50,
			Workload: workload.Workload{Load: workload.Closed, Think: ms,
				Receive: workload.Receive{By: workload.Poll, Period: time.Millisecond}}},
		{Algorithm: "majority", Config: nodes.Config{N: 4}, Latency: ms, Entries: 50,
			Workload: workload.Workload{Load: workload.Saturated}},
		{Algorithm: "ricart-agrawala-ft", Config: nodes.Config{N: 4}, Latency: ms, Entries: 50,
			Workload: workload.Workload{Load: workload.Saturated, Work: workload.Shares}},
		{Algorithm: "token-ring-regenerating", Config: nodes.Config{N: 4}, Latency: ms, Duration: time.Second,
			Workload: workload.Workload{Load: workload.Saturated},
			Faults: []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{Word: "holder"}},
				Schedule: chaos.Schedule{At: 300 * time.Millisecond}}}},
		{Algorithm: "multi-copy", Config: nodes.Config{N: 4, Units: 3}, Resources: 2, Latency: ms, Entries: 50,
			Workload: workload.Workload{Load: workload.Saturated, Zipf: 1, Hold: ms,
				Take: workload.Take{Least: 1, Most: 3}}},
		{Algorithm: "central-failover", Config: nodes.Config{N: 4, Elect: "bully"}, Latency: ms, Entries: 50,
			Workload: workload.Workload{Load: workload.Saturated}},
	}
	for _, algo := range election.Table {
		campaign := workload.Workload{Load: workload.Campaign}
		if algo.Grace == nil {
			campaign.CampaignEvery = time.Second
		}
		all = append(all, bench.Options{Algorithm: algo.Name, Config: nodes.Config{N: 4}, Latency: ms,
			Duration: 3 * time.Second, Workload: campaign,
			Faults: []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{3}}},
				Schedule: chaos.Schedule{At: time.Second, For: time.Second}}}})
	}
	return all
}

// wantNumbers requires each cell of a figure in the tables of a run to be a number or empty, and lower bounds
// to be marked. It notes in bounds which tables have lower bounds.
func wantNumbers(t *testing.T, folder *results.Folder, bounds map[string]bool) {
	t.Helper()
	for name, row := range map[string]any{results.RowsFile: results.Row{},
		results.FaultsFile: results.PhaseRow{}, results.MessagesFile: results.MessageRow{},
		results.SizesFile:     results.SizeRow{},
		results.ResourcesFile: results.ResourceRow{},
		results.TimelineFile:  results.IntervalRow{}, results.BeliefsFile: results.BeliefRow{}} {
		text, err := os.ReadFile(folder.File(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for column, is := range results.Cells(row) {
			at := slices.Index(records[0], column)
			for _, record := range records[1:] {
				if _, figure := is.(figure.Figure); !figure || at < 0 || record[at] == "" {
					continue
				}
				if _, err := strconv.ParseFloat(record[at], 64); err != nil {
					t.Errorf("%s: %s: %v", folder.File(name), column, err)
				}
				named := strings.Fields(record[slices.Index(records[0], results.BoundsColumn)])
				bounds[name] = bounds[name] || slices.Contains(named, column)
			}
		}
	}
}

// The list of runs has every column of runs.csv.
func TestOverviewsHaveEveryColumn(t *testing.T) {
	has := map[string]bool{}
	for column := range results.Cells(Overview{}) {
		has[column] = true
	}
	for column := range results.Cells(results.Row{}) {
		if !has[column] {
			t.Errorf("the list of runs lacks the column %s", column)
		}
	}
}

// Each column is filled by some run, except those for real processes only.
func TestEveryColumnIsFilled(t *testing.T) {
	t.Parallel()
	filled := map[string]bool{}
	for _, column := range []string{"nats", "brokers", "patience_s", "timer_late_us_p50", "timer_late_us_p99",
		"timer_late_us_max", "clock_error_us", "cpu_busy", "broker_cpu", "own_cpu", "broker_share", "others_cpu",
		"node_rss_mb_max", "ready_ms", "lost_with_broker", "lost_to_deaths", "bytes_per_entry",
		"server_bytes_per_entry", "entries_told", "told_stayed", "told_inside_us", "told_inside_us_max",
		"told_for_nothing", "overlapped_untold", "told_after_us_max", "refused_tries", "refused_free",
		"given_up", "cancel_after_s", "resource", "resource_round_trips_per_entry", "resource_us_mean"} {
		filled[column] = true
	}
	fills := func(row iter.Seq2[string, any]) {
		for column, cell := range row {
			filled[column] = filled[column] || fmt.Sprint(cell) != ""
		}
	}
	bounds := map[string]bool{}
	for _, o := range runsOfAllColumns(t) {
		o.Trials, o.Patience = 1, time.Second
		spec, err := (catalog.Table{}).Find(o.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set",
			Setup: site.Setup{Versions: map[string]string{"turnstile": "v1"}}})
		if err != nil {
			t.Fatal(err)
		}
		fills(results.Cells(r.Rows()[0]))
		for _, row := range results.PhaseRows(r.Trials[0].Faults) {
			fills(results.Cells(row))
		}
		for _, row := range r.Trials[0].Timeline {
			fills(results.Cells(row))
		}
		wantNumbers(t, r.Folder, bounds)
		if a := audited(t, r.Folder); len(a.Differences) > 0 || len(a.Remarks) > 0 {
			t.Errorf("%s is not what its history says: %v", r.Folder.Path, a)
		}
	}
	if !bounds[results.RowsFile] || !bounds[results.FaultsFile] {
		t.Errorf("no run has a lower bound in %s, or none in %s", results.RowsFile, results.FaultsFile)
	}
	for column, is := range filled {
		if !is {
			t.Errorf("no run fills the column %s", column)
		}
	}
}
