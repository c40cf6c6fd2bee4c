package measure

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/figure"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// tape builds a history by hand. Times are in microseconds.
type tape struct{ logs map[nodes.ID]*log }

// A log is what one node leaves, with its events.
type log struct {
	history.NodeLog
	events []history.Event
}

func newTape() *tape { return &tape{map[nodes.ID]*log{}} }

func (t *tape) log(node nodes.ID) *log {
	if t.logs[node] == nil {
		t.logs[node] = &log{NodeLog: history.NodeLog{Node: node}}
	}
	return t.logs[node]
}

func (t *tape) add(node nodes.ID, at int64, kind history.Kind, count uint32, value int64) *tape {
	l := t.log(node)
	l.events = append(l.events, history.Event{
		At: at * 1000, Kind: kind, Count: count, Value: value, Node: node})
	return t
}

func (t *tape) mark(at int64, mark uint32) *tape {
	return t.add(nodes.None, at, history.Marked, mark, 0)
}

// visit adds a whole request: due, requested, entered, exited. If a time is negative, that event is missing.
func (t *tape) visit(node nodes.ID, due, asked, entered, exited int64) *tape {
	t.add(node, asked, history.Requested, 1, due*1000)
	if entered >= 0 {
		t.add(node, entered, history.Entered, 1, 0)
	}
	if exited >= 0 {
		t.add(node, exited, history.Exited, 0, 0)
	}
	return t
}

func (t *tape) history() *history.History {
	h := &history.History{}
	for id := nodes.None; id < 100; id++ {
		if l, ok := t.logs[id]; ok {
			h.Logs = append(h.Logs, &l.NodeLog)
			h.Events = append(h.Events, l.events...)
		}
	}
	slices.SortStableFunc(h.Events, func(a, b history.Event) int { return int(a.At - b.At) })
	return h
}

// of measures a history under a load.
func of(h *history.History, load workload.Load) *Measures {
	s := section.New(h.Header().StampError, nil)
	f := New(s, load)
	h.Run(s)
	return &f.Measures
}

// marked is a tape whose window is from 100 to 1100 us.
func marked() *tape {
	return newTape().mark(0, history.Began).mark(100, history.Measuring).mark(1100, history.Stopped)
}

func wantFigure(t *testing.T, name string, got figure.Figure, want string) {
	t.Helper()
	if got.String() != want {
		t.Errorf("%s is %q, not %q", name, got, want)
	}
}

func TestMeasureByHand(t *testing.T) {
	tp := marked().
		visit(0, 50, 50, 60, 90).         // in the warm-up
		visit(0, 200, 200, 210, 300).     // uncontended
		visit(1, 210, 250, 320, 400).     // queued 40, handed over in 20
		visit(0, 390, 390, 405, 500).     // handed over in 5
		visit(1, 600, 600, 650, 700).     // uncontended
		visit(0, 1000, 1040, 1150, 1200). // due in the window, entered after it
		mark(1300, history.Rested)
	for _, id := range []nodes.ID{0, 1} {
		l := tp.log(id)
		l.Instances = []history.InstanceTotals{{Entries: 3, Kinds: []history.KindTotals{
			{Sent: 6, Publishes: 3, Bytes: 60}, {Sent: 3, Publishes: 3, Bytes: 6}}}}
	}
	m := of(tp.history(), workload.Closed)
	row := m.Columns()
	for name, want := range map[string]struct {
		got  figure.Figure
		want string
	}{
		"duration":       {row.DurationS, "0.001"},
		"entries":        {row.Entries, "6"},
		"in window":      {row.EntriesInWindow, "4"},
		"per second":     {row.EntriesPerS, "4000"},
		"messages":       {row.Messages, "18"},
		"per entry":      {row.MessagesPerEntry, "3"},
		"publishes":      {row.PublishesPerEntry, "2"},
		"bytes":          {row.BytesPerEntry, "22"},
		"wait max":       {row.WaitUSMax, "150.015"},
		"queue p99":      {row.QueueUSP99, "40.031"},
		"wait p50":       {row.WaitUSP50, "50.015"},
		"protocol p99":   {row.ProtocolUSP99, "110.015"},
		"hold p50":       {row.HoldUSP50, "80.063"},
		"uncontended":    {row.UncontendedP50, "50.015"},
		"client delay":   {row.ClientDelayP50, ""},
		"sync delay p50": {row.SynchronizationDelayUSP50, "5.003"},
		"sync delay p99": {row.SynchronizationDelayUSP99, "20.015"},
		"utilisation":    {row.Utilisation, "0.315"},
		"jain":           {row.JainIndex, "1"},
		"node min":       {row.EntriesNodeMin, "2"},
		"overlap":        {row.OverlapUS, "0"},
		"overtaken max":  {row.OvertakenMax, "0"},
		"unfinished":     {row.Unfinished, "0"},
		"issued share":   {row.IssuedShare, ""},
		"cpu":            {row.CPUBusy, ""},
		"timers":         {row.TimerLateUSMax, ""},
		"one entry mean": {row.OneEntryMean, ""},
	} {
		wantFigure(t, name, want.got, want.want)
	}
	if n := m.Hold.Count(); n != 4 {
		t.Errorf("%d holds began in the window, not 4", n)
	}
	for name, l := range map[string]*Latency{"wait": &m.Wait, "queue": &m.Queue, "protocol": &m.Protocol} {
		if l.Count() != 5 || l.Censored() != 0 {
			t.Errorf("%s has %d, %d censored, not 5 and none", name, l.Count(), l.Censored())
		}
	}
}

func TestNobodyIsLeftOut(t *testing.T) {
	tp := marked().
		visit(0, 200, 200, 210, 220).
		visit(0, 300, 300, 310, 320).
		visit(1, 400, 400, -1, -1).
		mark(1200, history.Stalled)
	tp.add(0, 1150, history.Unissued, 0, 500*1000)
	tp.add(0, 1150, history.Unissued, 0, 50*1000) // due in the warm-up, and still waiting
	m := of(tp.history(), workload.Open)
	if m.Wait.Count() != 5 || m.Wait.Censored() != 3 || m.Unserved != 1 || m.Unissued != 2 {
		t.Errorf("waits %d, censored %d, unfinished %d, unissued %d", m.Wait.Count(), m.Wait.Censored(),
			m.Unserved, m.Unissued)
	}
	row := m.Columns()
	wantFigure(t, "p50", row.WaitUSP50, ">650.239")
	wantFigure(t, "p90", row.WaitUSP90, ">1100.799")
	wantFigure(t, "queue p50", row.QueueUSP50, "0")
	wantFigure(t, "queue p99", row.QueueUSP99, ">1100.799")
	wantFigure(t, "issued share", row.IssuedShare, "0.75")
	wantFigure(t, "unfinished", row.Unfinished, "3")
	wantFigure(t, "messages per entry", row.MessagesPerEntry, "") // it never came to rest
	wantFigure(t, "overtaken", row.OvertakenMax, ">0")
}

// An arrival at a node that is down does not count; a request open at a crash waited until the crash.
func TestDownNodesAskForNothing(t *testing.T) {
	tp := marked().
		visit(0, 200, 200, 210, 220).
		visit(1, 300, 300, -1, -1)
	tp.add(1, 400, history.Crashed, 0, 0)
	tp.visit(2, 290, 290, 300, -1)
	tp.add(2, 320, history.Crashed, 0, 0)
	tp.add(2, 330, history.Restarted, 1, 0)
	for _, due := range []int64{350, 500, 600} { // 350 is before the crash, while the client was busy
		tp.add(1, 1150, history.Unissued, 0, due*1000)
	}
	tp.add(2, 1150, history.Unissued, 0, 1090*1000) // it is up again
	tp.add(3, 0, history.Crashed, 0, 0)             // before it ever asked
	tp.add(3, 1150, history.Unissued, 0, 500*1000)
	m := of(tp.mark(1200, history.Rested).history(), workload.Open)
	row := m.Columns()
	if m.Wait.Count() != 5 || m.Wait.Censored() != 3 || m.Unserved != 1 || m.Unissued != 2 {
		t.Errorf("waits %d, censored %d, unfinished %d, unissued %d", m.Wait.Count(), m.Wait.Censored(),
			m.Unserved, m.Unissued)
	}
	wantFigure(t, "max", row.WaitUSMax, ">100.031")
	wantFigure(t, "issued share", row.IssuedShare, "0.6")
	wantFigure(t, "utilisation", row.Utilisation, "0.03")
	wantFigure(t, "entries of the least", row.EntriesNodeMin, "0") // of the clients that asked
	wantFigure(t, "jain", row.JainIndex, "0.666667")
}

func TestCutShort(t *testing.T) {
	warm := newTape().mark(0, history.Began).visit(0, 10, 10, 20, 30).visit(1, 10, 10, 35, -1).
		mark(60, history.Interrupted)
	row := of(warm.history(), workload.Saturated).Columns()
	wantFigure(t, "entries", row.Entries, "2")
	for name, f := range map[string]figure.Figure{
		"duration": row.DurationS, "rate": row.EntriesPerS, "wait": row.WaitUSP50, "jain": row.JainIndex,
		"window": row.EntriesInWindow, "utilisation": row.Utilisation, "per entry": row.MessagesPerEntry} {
		wantFigure(t, name, f, "")
	}

	killed := newTape().mark(0, history.Began).mark(100, history.Measuring).visit(0, 110, 110, 120, 600)
	m := of(killed.history(), workload.Saturated)
	if want := (section.Window{From: 100_000, To: 600_000}); m.Window != want {
		t.Errorf("without a mark the window is %v, not %v", m.Window, want)
	}
	killed.mark(500, history.Interrupted) // its log is another, so its time may be before that exit
	if m := of(killed.history(), workload.Saturated); m.Window.To != 500_000 {
		t.Errorf("interrupted, the window ends at %d", m.Window.To)
	}
	if m := of(&history.History{}, workload.Saturated); m.Entries.String() != "0" ||
		m.JainIndex.Known() || m.OverlapUS.Known() {
		t.Errorf("nothing was measured as %+v", m)
	}
}

func TestOverlapBelowTheErrorOfStampsIsNone(t *testing.T) {
	tp := marked().visit(0, 100, 100, 200, 300).visit(1, 100, 100, 290, 400)
	wantFigure(t, "overlap", of(tp.history(), workload.Saturated).OverlapUS, "10")
	tp.log(0).StampError, tp.log(1).StampError = 6000, 6000
	wantFigure(t, "overlap", of(tp.history(), workload.Saturated).OverlapUS, "0")
}

func TestResourcesAreToldApart(t *testing.T) {
	tp := marked().visit(0, 100, 100, 200, 300).visit(1, 100, 100, 200, 300)
	for i := range tp.log(1).events {
		tp.log(1).events[i].Instance = 1
	}
	m := byResource(tp.history(), 2, 1)
	wantFigure(t, "overlap", m.OverlapUS, "0")
	wantFigure(t, "utilisation", m.Utilisation, "0.1")
	wantFigure(t, "mean utilisation", m.UtilisationMean, "0.1")
}

func TestCirculatingIsCountedBetweenSteadyEntries(t *testing.T) {
	tp := marked()
	at := int64(0)
	for range 300 { // a token goes round two nodes and is used at every tenth hop
		at += 5
		tp.add(nodes.ID(at/5%2), at, history.Sent, 1, 0)
		if at%50 == 0 {
			tp.add(0, at, history.Requested, 1, at*1000)
			tp.add(0, at, history.Entered, 1, 0).add(0, at, history.Exited, 0, 0)
		}
	}
	tp.log(0).Instance(0).Kind(1).Sent = 300
	m := of(tp.history(), workload.Saturated)
	wantFigure(t, "messages per entry", m.MessagesPerEntry, "10")
	wantFigure(t, "bytes per entry", m.BytesPerEntry, "")
	codec := nodes.NewCodec([]nodes.MessageKind{{Zero: struct{ A int }{}}, {Zero: struct{ B int }{}}})
	var steady []string
	for _, r := range m.OfMessages(codec) {
		steady = append(steady, r.Phase+" "+r.Sent.String()+" "+r.PerEntry.String())
	}
	want := []string{"run 0 ", "run 300 ", "steady  0", "steady  10"}
	if diff := cmp.Diff(want, steady); diff != "" {
		t.Error(diff)
	}
}

func TestSequential(t *testing.T) {
	tp := marked().add(nodes.None, 90, history.Settled, 0, 99).
		visit(0, 200, 200, 240, 250).add(nodes.None, 260, history.Settled, 0, 4).
		visit(1, 300, 300, 340, 350).add(nodes.None, 360, history.Settled, 1, 8).
		visit(1, 400, 400, 440, 450).add(nodes.None, 460, history.Settled, 1, 0)
	row := of(tp.history(), workload.Sequential).Columns()
	wantFigure(t, "least", row.OneEntryMin, "0")
	wantFigure(t, "mean", row.OneEntryMean, "4")
	wantFigure(t, "most", row.OneEntryMax, "8")
	wantFigure(t, "client delay", row.ClientDelayP50, "40.031")
}

func TestGaugesAndTimers(t *testing.T) {
	tp := marked().
		add(nodes.None, 1101, history.Gauged, history.BusyPPM, 970_000).
		add(nodes.None, 1102, history.Gauged, history.BrokerPPM, 250_000).
		add(nodes.None, 1102, history.Gauged, history.OwnPPM, 500_000).
		add(nodes.None, 1102, history.Gauged, history.BrokerSharePPM, 125_000).
		add(nodes.None, 1102, history.Gauged, history.OthersPPM, 345_000).
		add(nodes.None, 1103, history.Gauged, history.ResidentKB, 20*1024).
		add(nodes.None, 1104, history.Gauged, history.ResidentKB, 10*1024).
		add(nodes.None, 1105, history.Gauged, history.ReadyUS, 1500)
	tp.log(0).Late = make([]uint64, history.LatenessBuckets)
	tp.log(1).Late = make([]uint64, history.LatenessBuckets)
	tp.log(0).Late[history.LatenessBucket(50_000)] = 98
	tp.log(1).Late[history.LatenessBucket(1_000_000)] = 2
	m := of(tp.history(), workload.Saturated)
	wantFigure(t, "busy", m.CPUBusy, "0.97")
	wantFigure(t, "broker", m.BrokerCPU, "0.25")
	wantFigure(t, "own", m.OwnCPU, "0.5")
	wantFigure(t, "broker's share", m.BrokerShare, "0.125")
	wantFigure(t, "others", m.OthersCPU, "0.345")
	wantFigure(t, "memory", m.NodeRSSMB, "20")
	wantFigure(t, "ready", m.ReadyMS, "1.5")
	wantFigure(t, "late p50", m.TimerLateUSP50, "53.247")
	wantFigure(t, "late max", m.TimerLateUSMax, "1048.575")
}

func TestHistograms(t *testing.T) {
	m := of(marked().visit(0, 200, 200, 210, 300).history(), workload.Saturated)
	var tags []string
	for _, l := range m.Histograms() {
		tags = append(tags, l.Tag)
	}
	if diff := cmp.Diff([]string{"wait", "queue", "protocol", "hold"}, tags); diff != "" {
		t.Error(diff)
	}
}

func TestQuantiles(t *testing.T) {
	var l Latency
	if l.MicrosAt(0.5).Known() {
		t.Error("an empty latency has a median")
	}
	for range 99 {
		l.add(1000, true)
	}
	l.add(10, false) // a short one that goes on may still become the longest of all
	for q, want := range map[float64]string{0.5: "1", 0.99: "1", 1: ">1"} {
		wantFigure(t, "quantile", l.MicrosAt(q), want)
	}
	var young Latency // unended durations may turn out longer than all ended ones
	for i := range int64(60) {
		young.add(1000*i, true)
	}
	for range 40 {
		young.add(10, false)
	}
	wantFigure(t, "median", young.MicrosAt(0.5), ">9.007")
	var long Latency
	long.add(int64(100*365*24*time.Hour), true)
	if ns, atLeast := long.Quantile(0.5); atLeast || math.Abs(float64(ns)/(100*365*24*3600e9)-1) > 1e-3 {
		t.Errorf("100 years are shown as %v", time.Duration(ns))
	}
	var few Latency
	few.add(3000, true)
	few.add(1000, false)
	few.add(1000, true)
	values := few.Values()
	if len(values) != 3 {
		t.Fatalf("%v", values)
	}
	for i, want := range []figure.Figure{figure.Number(1), figure.AtLeast(1), figure.Number(3.001)} {
		if values[i] != want {
			t.Errorf("value %d is %v, not %v", i, values[i], want)
		}
	}
	var other Latency
	for range 100 {
		other.add(math.MaxInt64, false)
	}
	for range 99 {
		other.add(1000, true)
	}
	other.add(10, false)
	if other.Count() != 200 || other.Censored() != 101 {
		t.Errorf("they are %d and %d", other.Count(), other.Censored())
	}
	wantFigure(t, "p40", other.MicrosAt(0.4), "1")
	if f := other.MicrosAt(0.9); !f.IsBound() {
		t.Errorf("p90 is %v", f)
	}
}
