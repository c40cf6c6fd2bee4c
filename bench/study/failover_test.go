package study

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/results"
)

// Each line of failovers is valid, no two are equal, and an error names the line.
func TestFailoverLines(t *testing.T) {
	all, err := readFailoverLines(failoverLines)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, l := range all {
		if seen[l.Text()] {
			t.Errorf("there are two of %s", l.Text())
		}
		seen[l.Text()] = true
	}
	for _, x := range [][3]string{
		{"      kill-server: ", "      kill-servers: ", "kill-servers is not a fault of the table"},
		{`["px={1}"]`, `["px=1s"]`, "px=1s does not depend on the ttl"},
		{"  - service: redis\n", "  - servant: redis\n", "servant"},
		{"no leading server", `""`, "say why"},
	} {
		broken := strings.Replace(string(failoverLines), x[0], x[1], 1)
		if _, err := readFailoverLines([]byte(broken)); err == nil || !strings.Contains(err.Error(), x[2]) {
			t.Errorf("%q instead of %q: %v, want %q", x[1], x[0], err, x[2])
		}
	}
	l := FailoverLine{Service: "postgres", With: []string{"watch=ping"},
		TTL: []string{"idle={1}", "every={0.25}"}}
	if got := strings.Join(l.Words(time.Second), " "); got != "watch=ping idle=1s every=250ms" {
		t.Errorf("options are %s", got)
	}
	if ttls := (&FailoverLine{}).TTLs([]time.Duration{1, 2}); len(ttls) != 1 || ttls[0] != 0 {
		t.Errorf("a service without a ttl has %v", ttls)
	}
}

// The row of a case has the figures of the runs that count. Runs without a successor are lower bounds, and
// runs that do not count are grouped by reason.
func TestFailoverRow(t *testing.T) {
	of := func(times ...figure.Figure) *FailoverCase {
		line := &FailoverLine{Service: "redis", With: []string{"fence=on"}, TTL: []string{"px={1}"}}
		c := &FailoverCase{Line: line, Asked: time.Second, Fault: "kill"}
		c.Line.Lacks = map[string]string{"cut": "no cut"}
		for i, x := range times {
			c.Runs = append(c.Runs, &FailoverRun{NextS: x,
				ServiceRun: ServiceRun{Folder: fmt.Sprint("run ", i)}})
		}
		return c
	}
	some := of(figure.Number(3), figure.Number(1), figure.Number(2))
	most := of(figure.Number(1), figure.AtLeast(9), figure.AtLeast(9))
	late := of()
	late.LeftOut = []*FailoverRun{{Why: "late"}, {Why: "no holder"}, {Why: "late"}}
	missing := of()
	missing.Err = errors.New("not run")
	lacks := of()
	lacks.Fault = "cut"
	var ten []figure.Figure
	for i := range 10 {
		ten = append(ten, figure.Number(float64(i+1)))
	}
	for _, x := range []struct {
		name, want string
		c          *FailoverCase
	}{
		{"some", "2 (1 to 3, least and most) 1..3, 3 runs, 0 never, 0 out, run 0, ", some},
		{"most never", ">9 (1 to >9, least and most) 1..>9, 3 runs, 2 never, 0 out, run 1, ", most},
		{"one as long as the bound", ">9 (1 to >9, least and most) 1..>9, 3 runs, 1 never, 0 out, run 1, ",
			of(figure.Number(9), figure.AtLeast(9), figure.Number(1))},
		{"ten", "5.5 (2 to 9, 95% of the median) 1..10, 10 runs, 0 never, 0 out, run 9, ", of(ten...)},
		{"left out", " ( to , ) .., 0 runs, 0 never, 3 out, , 2: late; 1: no holder", late},
		{"not run", " ( to , ) .., 0 runs, 0 never, 0 out, , not run", missing},
		{"no meaning", " ( to , ) .., 0 runs, 0 never, 0 out, , no cut", lacks},
	} {
		r := x.c.TableRow()
		got := fmt.Sprintf("%v (%v to %v, %s) %v..%v, %d runs, %d never, %d out, %s, %s", r.MedianS, r.LowS,
			r.HighS, r.Interval, r.LeastS, r.MostS, r.Runs, r.Missed, r.LeftOut, r.Run, r.Reason)
		if got != x.want {
			t.Errorf("%s: %s\nnot %s", x.name, got, x.want)
		}
		if r.Line != "redis fence=on" || r.Options != "fence=on px=1s" || r.AskedS != figure.Number(1) {
			t.Errorf("%s: %s, %s, %v", x.name, r.Line, r.Options, r.AskedS)
		}
	}
}

// The row says in how many runs that count two were inside, and in how many both wrote. Without fence
// numbers, or if a run does not show it, the second is unknown.
func TestFailoverOverlaps(t *testing.T) {
	of := func(fences bool, fenced ...algorithm.Outcome) results.FailoverRow {
		c := &FailoverCase{Line: &FailoverLine{Service: "redis"}, Fault: "pause"}
		for _, x := range fenced {
			c.Runs = append(c.Runs, &FailoverRun{NextS: figure.Number(1),
				ServiceRun: ServiceRun{Strict: algorithm.Breaks, Fenced: x, HasFences: fences}})
		}
		c.Runs = append(c.Runs, &FailoverRun{NextS: figure.Number(1),
			ServiceRun: ServiceRun{Strict: algorithm.Recovers, Fenced: algorithm.Recovers, HasFences: fences}})
		return c.TableRow()
	}
	for want, r := range map[string]results.FailoverRow{
		"2 of 3, true 1": of(true, algorithm.Breaks, algorithm.Recovers),
		"1 of 2, true 0": of(true, algorithm.Recovers),
		"1 of 2, true ":  of(true, 0),
		"1 of 2, false ": of(false, 0),
	} {
		if got := fmt.Sprintf("%v of %d, %v %v", r.TwoInside, r.Runs, r.Fences, r.BothWrite); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// When a fault begins, its victim must be inside; if the victim is a server, some client must be inside.
func TestInsideWhenTheFaultBegins(t *testing.T) {
	enter := func(id nodes.ID) history.Event { return history.Event{Kind: history.Entered, Node: id} }
	leave := func(id nodes.ID) history.Event { return history.Event{Kind: history.Exited, Node: id} }
	told := func(id nodes.ID) history.Event { return history.Event{Kind: history.Revoked, Node: id} }
	fault := func(number uint32, victim nodes.ID) history.Event {
		return history.Event{Kind: history.FaultBegan, Node: nodes.None, Count: number, Entry: uint32(victim + 1)}
	}
	for _, x := range []struct {
		name   string
		held   bool
		events []history.Event
	}{
		{"inside", true, []history.Event{enter(0), leave(0), enter(1), fault(1, 1)}},
		{"left", false, []history.Event{enter(1), leave(1), fault(1, 1)}},
		{"lost it", false, []history.Event{enter(1), told(1), fault(1, 1)}},
		{"another", false, []history.Event{enter(1), leave(1), enter(0), fault(1, 1)}},
		{"killed then", true, []history.Event{enter(1), fault(1, 1), {Kind: history.Crashed, Node: 1}}},
		{"a server, held", true, []history.Event{enter(2), fault(1, nodes.None)}},
		{"a server, free", false, []history.Event{enter(2), leave(2), fault(1, nodes.None)}},
		{"another fault", false, []history.Event{enter(2), fault(2, 2)}},
	} {
		f := &insideFold{inside: map[nodes.ID]bool{}}
		for _, e := range x.events {
			f.Add(e)
		}
		if f.held != x.held {
			t.Errorf("%s: held %v", x.name, f.held)
		}
	}
}

// The next leader is another node than the one that led when the fault began. A wait that ended only with the
// fault is a lower bound.
func TestNextLeader(t *testing.T) {
	event := func(s float64, kind history.Kind, node nodes.ID, count uint32) history.Event {
		return history.Event{At: int64(s * 1e9), Kind: kind, Node: node, Count: count}
	}
	leads := func(s float64, node nodes.ID) history.Event {
		return event(s, history.Elected, node, uint32(node))
	}
	follows := func(s float64, node, leader nodes.ID) history.Event {
		return event(s, history.Elected, node, uint32(leader))
	}
	fault := event(2, history.FaultBegan, nodes.None, 1)
	crash := event(2, history.Crashed, 0, 0)
	stop := event(2.1, history.Paused, nodes.None, 0)
	for _, x := range []struct {
		name   string
		events []history.Event
		healed float64 // 0: never
		want   string
	}{
		{"another", []history.Event{leads(1, 0), fault, stop, leads(3.5, 1)}, 0, "1.5"},
		{"the first of two", []history.Event{leads(1, 0), fault, crash, leads(3, 1), follows(4, 1, 2), leads(5, 2)},
			8, "1"},
		{"the same goes on", []history.Event{leads(1, 0), fault, follows(3, 1, 0), leads(4, 0)}, 0, ">7"},
		{"nobody", []history.Event{leads(1, 0), fault, stop}, 0, ">7"},
		{"after the heal", []history.Event{leads(1, 0), fault, crash, leads(8, 1)}, 6, ">4"},
		{"none before", []history.Event{fault, leads(3, 1)}, 0, "nobody led when the fault began"},
		{"two before", []history.Event{leads(0.5, 1), leads(1, 0), fault, leads(3, 2)}, 0,
			"two led when the fault began"},
		{"without a fault", []history.Event{leads(1, 0), leads(3, 1)}, 0, "it is not known when the fault began"},
	} {
		fold := &leadership.Succession{Fold: leadership.New(nodes.Config{N: 3}, &algorithm.Leadership{Terms: true})}
		fold.Add(event(0, history.Marked, nodes.None, history.Began))
		for _, e := range x.events {
			fold.Add(e)
		}
		fold.Add(event(9, history.Marked, nodes.None, history.Stopped))
		fold.Close(nil)
		f := results.FaultRow{OfFault: measure.OfFault{FromS: figure.Number(2)}}
		if x.healed > 0 {
			f.Healed, f.ToS = true, figure.Number(x.healed)
		}
		next, why := succeeded(fold)
		if got := untilHealed(next, &f).String() + why; got != x.want {
			t.Errorf("%s: %s, not %s", x.name, got, x.want)
		}
	}
}

// Each run draws the time of its fault: always the same, and never later than the job says.
func TestFailoverMoments(t *testing.T) {
	c := &FailoverCase{Line: &FailoverLine{}, Fault: "kill", Subject: &ServiceSubject{Granted: 3 * time.Second}}
	m := &Failover{cases: []*FailoverCase{c}}
	at := func(text string, trial int) time.Duration {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		whole := &bench.Job{Options: bench.Options{Faults: []chaos.Fault{f}}}
		j := *whole
		m.moment(sweepRun{trial: trial, name: fmt.Sprintf("redis-t%02d", trial)}, &j)
		if now := &whole.Faults[0]; now.At != f.At || now.After != f.After {
			t.Error("the job of all runs has changed")
		}
		return j.Faults[0].At + j.Faults[0].After
	}
	seen := map[time.Duration]bool{}
	for trial := range 10 {
		entry, leader := at("kill: holder, at: 1s, after: 1s", trial), at("kill: leader, at: 2s", trial)
		if entry != leader || entry <= time.Second || entry > 2*time.Second {
			t.Errorf("trial %d: %v and %v", trial, entry, leader)
		}
		if entry != at("kill: holder, at: 1s, after: 1s", trial) {
			t.Errorf("trial %d has another moment the second time", trial)
		}
		seen[entry] = true
	}
	if len(seen) < 9 {
		t.Errorf("%d moments in 10 runs", len(seen))
	}
}

// The table keeps the rows of lines that a call omits or has no runs of, in the order of the lines.
func TestFailoverTableKeepsOthers(t *testing.T) {
	m := &Failover{}
	m.Setup.Results, m.Setup.Set = t.TempDir(), "failover"
	row := func(line string, asked float64, fault string, runs int) results.FailoverRow {
		return results.FailoverRow{Line: line, AskedS: figure.Number(asked), Fault: fault, Runs: runs}
	}
	lines := FailoverLines()
	first, second := lines[0].Text(), lines[1].Text()
	before := []results.FailoverRow{row(first, 1, "kill", 3), row(first, 2, "kill", 4),
		row(first, 2, "cut", 0), row(second, 1, "kill", 5)}
	_, err := results.WriteSetTable(m.Setup.Results, m.Setup.Set, results.FailoverFile, before)
	if err != nil {
		t.Fatal(err)
	}
	m.Cases = []*FailoverCase{{Line: lines[1], Asked: time.Second, Fault: "kill"}}
	rows, err := m.TableRows()
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.Line, " ", r.AskedS, " ", r.Runs))
	}
	want := first + " 1 3, " + first + " 2 4, " + second + " 1 5"
	if err != nil || strings.Join(got, ", ") != want {
		t.Errorf("%s (%v), not %s", strings.Join(got, ", "), err, want)
	}
}

// A run counts though a client starved in it, and not if it is unknown who was inside.
func TestStarvedRunsCount(t *testing.T) {
	verdict := func(exclusion, fairness check.Outcome) *runs.TrialResult {
		return besideFairness(&runs.TrialResult{Verdict: check.Verdict{Findings: []check.Finding{
			{Check: "exclusion", Outcome: exclusion}, {Check: "fairness", Outcome: fairness}}}})
	}
	if shown, says := verdict(check.Valid, check.Inconclusive).Verdict.Shown(); shown != algorithm.Recovers {
		t.Errorf("a run in which a client starved shows %v: %s", shown, says)
	}
	for exclusion, unsound := range map[check.Outcome]bool{check.Valid: false, check.Violated: false,
		check.Inconclusive: true} {
		if got := verdict(exclusion, check.Valid).Verdict.Unsound(); got != unsound {
			t.Errorf("exclusion is %v, and all is unknown: %v", exclusion, got)
		}
	}
}
