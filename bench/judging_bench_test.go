package bench

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
)

// An absence is what keeps client 5 of many away: the fault of a plan, and the events of its node.
type absence struct {
	name, plan string
	from, to   history.Event
}

var absences = []absence{
	{name: "plain"},
	{"paused", "pause: 5", history.Event{Kind: history.Paused, Count: 5, Node: nodes.None},
		history.Event{Kind: history.Resumed, Count: 5, Node: nodes.None}},
	{"cut", "cut: '5/0-4,6-%d'", history.Event{}, history.Event{}},
	{"down", "kill: 5", history.Event{Kind: history.Crashed, Node: 5},
		history.Event{Kind: history.Restarted, Node: 5, Count: 1}},
}

// faults returns the faults of the plan for n clients.
func (a *absence) faults(b testing.TB, n int) []chaos.Fault {
	if a.plan == "" {
		return nil
	}
	text := a.plan
	if a.name == "cut" {
		text = fmt.Sprintf(text, n-1)
	}
	plan, err := chaos.ReadPlan("plan", fmt.Appendf(nil, "faults: [{%s, for: 1s}]", text))
	if err != nil {
		b.Fatal(err)
	}
	return plan.Faults
}

// A rotation is a history that is judged while it is made up: n clients request at once and enter in turn.
// From a tenth of it until nine tenths client 5 is away, if some fault is asked for.
type rotation struct {
	add    func(e history.Event)
	n      int
	faults int
	events int
	at     int64
	number []uint32
}

func (r *rotation) tell(e history.Event) {
	r.events++
	e.At = r.at
	r.add(e)
}

func (r *rotation) request(id int) {
	r.number[id]++
	r.does(id, history.Event{Kind: history.Requested, Value: r.at, Count: 1})
}

func (r *rotation) does(id int, e history.Event) {
	e.Node, e.Entry = nodes.ID(id), r.number[id]
	r.tell(e)
}

// run makes the history of so many entries.
func (r *rotation) run(a *absence, entries int) {
	r.number = make([]uint32, r.n)
	r.tell(history.Event{Kind: history.Marked, Count: history.Began, Node: nodes.None})
	r.tell(history.Event{Kind: history.Marked, Count: history.Measuring, Node: nodes.None})
	for id := range r.n {
		r.request(id)
	}
	for i, id := 0, 0; i < entries; id = (id + 1) % r.n {
		away := r.faults > 0 && i >= entries/10 && i < entries*9/10
		if id == 5 && away {
			continue
		}
		switch {
		case r.faults > 0 && i == entries/10:
			r.tell(history.FaultEvent(port.FaultBeginning{At: r.at, Number: 1, Victim: nodes.None, Nodes: 1}))
			r.tell(a.from)
		case r.faults > 0 && i == entries*9/10:
			r.tell(history.Event{Kind: history.FaultHealed, Count: 1, Value: 1, Node: nodes.None})
			r.tell(a.to)
			if a.name == "down" {
				r.request(5)
			}
		}
		i++
		r.at += int64(time.Millisecond)
		r.does(id, history.Event{Kind: history.Entered, Value: int64(i - 1), Count: 1})
		r.at += int64(100 * time.Microsecond)
		r.does(id, history.Event{Kind: history.Exited, Value: int64(i)})
		r.request(id)
	}
}

// judgingFolds are the folds of a judgement, each of which reads the sections.
var judgingFolds = []string{"sections", "measures", "faults", "checks"}

// judge makes and judges a history by one of the folds, and returns how many events it had, and how much
// processor time that took.
func judge(b testing.TB, a *absence, fold string, n, entries int) (events int, took time.Duration) {
	spec, err := mutex.Find("naimi-trehel")
	if err != nil {
		b.Fatal(err)
	}
	o := Options{Algorithm: spec.Name, Config: nodes.Config{N: n}, Entries: uint64(entries), Seed: 1,
		Latency: chance.Constant(time.Millisecond), Workload: workload.Workload{Load: workload.Saturated}}
	s := drafted(b, spec, o, true).setting(a.faults(b, n))
	sections := check.Sections(history.Header{Nodes: n}, s)
	switch fold {
	case "measures":
		measure.New(sections, workload.Saturated)
	case "faults":
		measure.NewFaults(sections, s.Epoch)
	case "checks":
		check.New(sections, s)
	}
	r := rotation{add: sections.Add, n: n, faults: len(s.Faults)}
	from := processorTime()
	r.run(a, entries)
	took = processorTime() - from
	if sections.Entries != uint64(entries) || sections.Irregular > 0 {
		b.Fatalf("%d entries; %v", sections.Entries, sections.Irregularities)
	}
	return r.events, took
}

// processorTime returns how much processor time this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkJudging reports how much processor time it takes to judge an event among more and more clients, by
// fold, while nothing goes wrong and while one of the clients stands still, is cut off and is down. Among
// 100,000 clients it is to take three times as long at most as among 100.
func BenchmarkJudging(b *testing.B) {
	const entries = 300_000
	for i := range absences {
		for _, fold := range judgingFolds {
			for _, n := range []int{100, 1000, 10_000, 100_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", absences[i].name, fold, n), func(b *testing.B) {
					var events int
					var took time.Duration
					for b.Loop() {
						runtime.GC()
						more, longer := judge(b, &absences[i], fold, n, entries)
						events, took = events+more, took+longer
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(float64(took.Nanoseconds())/float64(events), "cpu-ns/event")
				})
			}
		}
	}
}

// Judging an entry takes no longer among many clients. A fold that looks at each of them at each entry takes
// some hundred times as long among 10,000 as among 100; a loaded machine makes less of a difference.
func TestJudgingIsFlatInTheNumberOfClients(t *testing.T) {
	const entries, bound = 20_000, 20
	least := func(a *absence, n int) time.Duration {
		least := time.Hour
		for range 2 { // the first has to get memory
			_, took := judge(t, a, "checks", n, entries)
			least = min(least, took)
		}
		return least
	}
	for i := range absences {
		few, many := least(&absences[i], 100), least(&absences[i], 10_000)
		if many > bound*few {
			t.Errorf("%s: judging takes %v among 100 clients, and %v among 10,000", absences[i].name, few, many)
		}
	}
}
