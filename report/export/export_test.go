package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/internal/chance"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

var whole = section.Window{To: math.MaxInt64}

func stackOf(t *testing.T, name string, n int) *algorithm.Stack {
	t.Helper()
	of, err := (catalog.Table{}).Find(name)
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: of, Config: nodes.Config{N: n}})
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// runs returns extracts of some runs. One of them is of a window whose ends some messages cross.
func runs(t *testing.T) map[string]*spacetime.Extract {
	t.Helper()
	all := map[string]*spacetime.Extract{}
	for name, w := range map[string]section.Window{"whole": whole, "window": {From: 4_500_000, To: 20_200_000}} {
		stack := stackOf(t, "ricart-agrawala", 4)
		o := sim.Options{Stack: stack, Seed: 1, Entries: 12, Latency: time.Millisecond,
			Trace:    true,
			Workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(500 * time.Microsecond)}}
		f := spacetime.New(history.Header{Nodes: 4}, stack, w)
		if _, err := sim.Run(o, f); err != nil {
			t.Fatal(err)
		}
		all[name] = &f.Extract
	}
	schedule, err := replay.Parse(strings.NewReader("turnstile schedule 1\nalgorithm bully\nn 3\ncampaign 0\n"+
		"drop 0>2 election; dup 0>1 election; 0>1 election; crash 2\nsuspect 1>2; restart 2; rest"),
		catalog.Table{}.Find)
	if err != nil {
		t.Fatal(err)
	}
	played, err := replay.Play(schedule)
	if err != nil {
		t.Fatal(err)
	}
	f := spacetime.New(played.History.Header(), played.Stack, whole)
	played.History.Run(f)
	all["schedule"] = &f.Extract
	return all
}

// These are the rules of ShiViz: the expression of the first line finds all events; a clock is JSON and has
// the host of its event; the steps of a host are counted from 1 without gaps; if a clock counts a step of
// another host, the log has this step.
func TestShiVizReadsIt(t *testing.T) {
	for name, x := range runs(t) {
		var b bytes.Buffer
		if err := ShiViz(&b, x); err != nil {
			t.Fatal(err)
		}
		first, rest, _ := strings.Cut(b.String(), "\n")
		delimiter, log, _ := strings.Cut(rest, "\n")
		parser, err := regexp.Compile(first)
		fields := []string{"", "host", "clock", "event"}
		if err != nil || delimiter != "" || !slices.Equal(parser.SubexpNames(), fields) {
			t.Fatalf("%s: the head is %q and %q: %v", name, first, delimiter, err)
		}
		events := parser.FindAllStringSubmatch(log, -1)
		if lines := strings.Count(log, "\n"); 2*len(events) != lines || len(events) < 10 {
			t.Errorf("%s: %d lines hold %d events", name, lines, len(events))
		}
		last, known := map[string]int{}, map[string]int{}
		for _, e := range events {
			clock := map[string]int{}
			if err := json.Unmarshal([]byte(e[2]), &clock); err != nil {
				t.Fatalf("%s: %s: %v", name, e[2], err)
			}
			if last[e[1]]++; clock[e[1]] != last[e[1]] {
				t.Errorf("%s: step %d of %s has the clock %s", name, last[e[1]], e[1], e[2])
			}
			for host, at := range clock {
				known[host] = max(known[host], at)
			}
		}
		for host, at := range known {
			if at > last[host] {
				t.Errorf("%s: a clock knows of step %d of %s, which has %d", name, at, host, last[host])
			}
		}
	}
}

func TestPerfettoReadsIt(t *testing.T) {
	type slice struct{ from, to float64 }
	type place struct{ pid, tid int }
	for name, x := range runs(t) {
		var b bytes.Buffer
		if err := Perfetto(&b, x, func(uint32) string { return "" }); err != nil {
			t.Fatal(err)
		}
		var trace struct{ TraceEvents []traceEvent }
		if err := json.Unmarshal(b.Bytes(), &trace); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		slices, begun, arrows := map[place][]slice{}, map[int]float64{}, 0
		for _, e := range trace.TraceEvents {
			if e.Phase == "X" {
				at := place{e.Process, e.Track}
				for _, other := range slices[at] {
					if nested := e.At >= other.from && e.At+*e.Lasts <= other.to || e.At <= other.from &&
						e.At+*e.Lasts >= other.to; !nested && e.At < other.to && other.from < e.At+*e.Lasts {
						t.Errorf("%s: %+v lies across %v", name, e, other)
					}
				}
				slices[at] = append(slices[at], slice{e.At, e.At + *e.Lasts})
			}
			if e.Phase == "s" {
				begun[e.ID] = e.At
			}
		}
		for _, e := range trace.TraceEvents {
			if e.Phase != "s" && e.Phase != "f" {
				continue
			}
			within := false
			for _, s := range slices[place{e.Process, e.Track}] {
				within = within || s.from <= e.At && e.At <= s.to
			}
			if !within {
				t.Errorf("%s: no slice holds %+v", name, e)
			}
			if sent, is := begun[e.ID]; e.Phase == "f" && is {
				if arrows++; sent >= e.At {
					t.Errorf("%s: %+v ends at %v before it begins", name, e, sent)
				}
			}
		}
		if arrows < 5 {
			t.Errorf("%s: %d arrows", name, arrows)
		}
	}
}

// Writing takes little memory beside the extract: what an event takes is soon free again.
func TestPerfettoIsWrittenAsAStream(t *testing.T) { // not in parallel, since it measures the memory
	x := runs(t)["whole"]
	var b bytes.Buffer
	if err := Perfetto(&b, x, nil); err != nil {
		t.Fatal(err)
	}
	events := bytes.Count(b.Bytes(), []byte("\n")) - 2
	var before, after runtime.MemStats
	const times = 100
	runtime.ReadMemStats(&before)
	for range times {
		if err := Perfetto(io.Discard, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := int(after.TotalAlloc-before.TotalAlloc) / times / events; each > 800 {
		t.Errorf("an event takes %d bytes", each)
	}
}

// Messages of a foreign program are shown with the types and bodies that the program gave them, even if it
// did not declare these types.
func TestMessagesOfProgramsSayWhatTheySay(t *testing.T) {
	of, err := foreign.Algorithm(nodes.Config{N: 2}.With(foreign.CommandOption, "x"))
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: of, Config: nodes.Config{N: 2}})
	if err != nil {
		t.Fatal(err)
	}
	says := history.Text{Type: "greet", Body: `{"type":"greet","x":1}`}
	h := history.History{}
	for id, seen := range []history.MessageRecord{{At: 1000, Peer: 1, Seq: 1, Sent: true},
		{At: 3000, Node: 1, Seq: 1}} {
		h.Logs = append(h.Logs, &history.NodeLog{Node: nodes.ID(id), Texts: []history.Text{says},
			Trace: []history.MessageRecord{seen}, Totals: history.Totals{TraceNext: 1}})
	}
	f := spacetime.New(h.Header(), stack, whole)
	h.Run(f)
	f.End = 4000
	var shiviz, perfetto bytes.Buffer
	if err := errors.Join(ShiViz(&shiviz, &f.Extract), Perfetto(&perfetto, &f.Extract, nil)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sends greet to node1: " + says.Body, "gets greet from node0: " + says.Body} {
		quoted, _ := json.Marshal(want)
		if !strings.Contains(shiviz.String(), want) || !strings.Contains(perfetto.String(), string(quoted)) {
			t.Errorf("no %q in %s or in %s", want, shiviz.String(), perfetto.String())
		}
	}
}

func TestEntriesAreAlgorithms(t *testing.T) {
	h := history.History{Events: []history.Event{
		{At: 0, Node: nodes.None, Kind: history.Marked, Count: history.Measuring},
		{At: 1500, Node: 0, Kind: history.Requested, Entry: 1, Value: 1000, Count: 1},
		{At: 1600, Node: 1, Kind: history.Requested, Entry: 1, Value: 1600, Count: 1},
		{At: 2000, Node: nodes.None, Kind: history.FaultBegan, Count: 1},
		{At: 2501, Node: 0, Kind: history.Entered, Entry: 1, Count: 1, Fence: 7},
		{At: 2600, Node: nodes.None, Kind: history.FaultHealed, Count: 1},
		{At: 3000, Node: 0, Kind: history.Exited, Entry: 1, Value: 1},
		{At: 9000, Node: nodes.None, Kind: history.Marked, Count: history.Stopped},
	}}
	f := spacetime.New(h.Header(), stackOf(t, "ricart-agrawala", 2), whole)
	h.Run(f)
	var b bytes.Buffer
	b.WriteString(EntryColumns)
	if err := Entries(&b, 2, &f.Extract); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll() // fails unless all rows are as long as the header
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	for i, want := range []string{
		"2,0,0,1,1,1,1.5,2.501,3,1.501,1.001,0.499,7,false,exited,true,1",
		"2,1,0,1,1,1.6,1.6,,,,,,,,unserved,,1",
	} {
		if got := strings.Join(rows[i+1], ","); got != want {
			t.Errorf("row %d is %s, not %s", i+1, got, want)
		}
	}
}
