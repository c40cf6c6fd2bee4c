package check

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

var rewrite = flag.Bool("rewrite", false, "write the goldens anew")

func finding(t *testing.T, v Verdict, check string) Finding {
	t.Helper()
	for _, f := range v.Findings {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("no check is called %q", check)
	return Finding{}
}

func TestSoundRunsAreValid(t *testing.T) {
	multicasting := newWorld(3)
	multicasting.mark(history.Measuring)
	multicasting.ask(0)
	multicasting.multicast(0, kindRequest)
	multicasting.send(1, 0, kindReply)
	multicasting.send(2, 0, kindReply)
	multicasting.enter(0)
	multicasting.exit(0)
	multicasting.end()

	open := sound(2)
	open.Open = true

	served := newWorld(3)
	served.Config.N = 2 // node 2 is a server, which hears no multicast
	served.Cost, served.Identities = algorithm.Exactly(1), nil
	served.mark(history.Measuring)
	served.ask(0)
	served.multicast(0, kindRequest)
	served.enter(0)
	served.exit(0)
	served.end()

	unpublished := sound(2)
	unpublished.CostKnown, unpublished.Cost = false, algorithm.Range{}

	// An algorithm with timers has sent more messages: a process was paused, or timers ran out while a process
	// waited for a processor.
	paused, late := sound(2), sound(2)
	for _, w := range []*world{paused, late} {
		w.Timed, w.Cost, w.Identities = true, algorithm.Exactly(1), []algorithm.Identity{{Says: "nothing",
			Holds: func(nodes.Config, algorithm.Tally) bool { return false }}}
	}
	late.Real = true
	paused.add(nodes.None, history.Event{Kind: history.Paused, Count: 1})
	paused.add(nodes.None, history.Event{Kind: history.Resumed, Count: 1})

	// Two entries follow each other so closely that their stamps cross; the register shows no overlap.
	close := sound(2)
	events := close.log(1).Events
	events[1].At = close.log(0).Events[2].At - stampError
	events[0].At = events[1].At

	for name, w := range map[string]*world{
		"one node": sound(1), "two": sound(2), "nine": sound(9), "ring": ring(4), "multicast": multicasting,
		"open load": open, "server": served, "no cost published": unpublished, "crossing stamps": close,
		"paused": paused, "late": late,
	} {
		v := w.judge()
		if v.Outcome != Valid || v.Violations+v.LostUpdates+v.Unfinished+v.LostUnintended != 0 || v.Overlap != 0 {
			t.Errorf("%s: %+v", name, v)
		}
		// Checks of resources with several units, of the work inside, of crashes that a detector should report,
		// of priority by fewest requests, two of foreign programs that break the protocol, and one of histories
		// that others recorded.
		const ofOthers = 7
		if len(v.Findings) != len(Exclusion.checks)-ofOthers || v.Reason == "" {
			t.Errorf("%s: %d findings, reason %q", name, len(v.Findings), v.Reason)
		}
		for _, f := range v.Findings {
			if f.Outcome != Valid || f.Says == "" || strings.Contains(f.Says, "%!") {
				t.Errorf("%s: %s is %v: %s", name, f.Check, f.Outcome, f.Says)
			}
		}
	}
}

// A valid run in which no two wanted a resource at once says so, since a lock that lets everybody in would
// have been valid as well. With several resources, it says how many were not contended.
func TestRunsThatAreNotContended(t *testing.T) {
	contended := func() *world {
		w := newWorld(2)
		w.mark(history.Measuring)
		for range 2 {
			w.ask(0)
			w.ask(1)
			for id := range nodes.ID(2) {
				w.permission(id)
				w.enter(id)
				w.exit(id)
			}
		}
		w.end()
		return w
	}
	for _, c := range []struct {
		w         *world
		resources int
		want      string
	}{
		{sound(1), 1, "not contended"}, {sound(3), 1, "not contended"}, {contended(), 0, ""}, {contended(), 1, ""},
		{contended(), 3, "2 of 3 resources not contended"}, {sound(2), 3, "not contended"},
	} {
		c.w.Resources = c.resources
		v := c.w.judge()
		if v.Outcome != Valid || v.Uncontended != c.want {
			t.Errorf("%d resources: %v (%s), want %q", c.resources, v.Outcome, v.Uncontended, c.want)
		}
	}
	w := contended()
	w.together()
	if v := w.judge(); v.Outcome != Violated || v.Uncontended != "" {
		t.Errorf("two were inside: %v, %q", v.Outcome, v.Uncontended)
	}
}

func TestVerdictCounts(t *testing.T) {
	w := measuring()
	w.together()
	w.ask(0)
	w.log(0).Totals.Gaps = 2
	w.log(0).SentTo[1] += 3
	w.end()
	v := w.judge()
	want := Verdict{Outcome: Violated, Entries: 4, Violations: 2, Overlap: time.Microsecond, LostUpdates: 1,
		Unfinished: 1, LostUnintended: 5, Reason: finding(t, v, "exclusion").Says, Findings: v.Findings,
		PassedOver: &PassedOver{Node: 1, Request: 2, Times: 1}, Starved: []nodes.ID{0}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Two long stays and a short one within: time is counted once, entries once.
func TestOverlapIsCountedOnce(t *testing.T) {
	w := newWorld(3)
	w.mark(history.Measuring)
	for id := range nodes.ID(3) {
		w.ask(id)
	}
	w.enter(0) // 0 1 2 3 4 5
	w.enter(1) //   1 2 3 4
	w.enter(2) //     2 3
	w.exit(2)
	w.exit(1)
	w.exit(0)
	w.turn(0)
	w.together()
	w.end()
	if v := w.judge(); v.Violations != 5 || v.Overlap != 4*time.Microsecond {
		t.Errorf("%d entries overlap for %v, want 5 for 4us", v.Violations, v.Overlap)
	}
}

func TestOpenEntryLastsToTheEnd(t *testing.T) {
	w := measuring()
	w.ask(0)
	w.enter(0)
	w.inside = 0
	w.turn(1)
	w.mark(history.Stopped)
	w.mark(history.Interrupted)
	w.eventsOf(history.Entered, func(e *history.Event) { e.Count = max(e.Count, 2) })
	v := w.judge()
	f := finding(t, v, "exclusion")
	story := strings.Join(f.Witness, "\n")
	if f.Outcome != Violated || v.Violations != 2 || !strings.Contains(story, "node 0 never left") {
		t.Errorf("%d violations: %+v", v.Violations, f)
	}
}

func TestOutcomes(t *testing.T) {
	for o, want := range map[Outcome]struct {
		name string
		code int
	}{
		Valid: {"valid", 0}, Violated: {"violated", 1},
		Inconclusive: {"inconclusive", 2}, underLoaded: {"under-loaded", 3}, Overloaded: {"overloaded", 3},
	} {
		if o.String() != want.name || o.ExitCode() != want.code {
			t.Errorf("%v: exit code %d, want %v", o, o.ExitCode(), want)
		}
	}
	if !slices.IsSorted([]Outcome{Valid, Overloaded, underLoaded, Inconclusive, Violated}) {
		t.Error("the order of severity is wrong")
	}
	v := sound(2).judge()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back Verdict
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, back); diff != "" || !strings.Contains(string(b), `"outcome":"valid"`) {
		t.Errorf("%s\n%s", b, diff)
	}
	if err := new(Outcome).UnmarshalText([]byte("fine")); err == nil {
		t.Error("an unknown outcome is read without error")
	}
}

func perEntry(w *world, circulates bool) (float64, []float64, bool) {
	h := w.history()
	s := Sections(h.Header(), w.Setting)
	h.Run(s)
	sum := history.Sum(h.Logs)
	return s.MessagesPerEntry(&sum, circulates, true)
}

func TestMessagesPerEntry(t *testing.T) {
	per, kinds, ok := perEntry(sound(5), false)
	if !ok || per != 8 || kinds[kindRequest] != 4 || kinds[kindReply] != 4 || len(kinds) != nodes.MaxKinds {
		t.Errorf("%v, %v, %v", per, kinds, ok)
	}
	beating := sound(5) // as if the replies were heartbeats
	beating.Codec = nodes.NewCodec([]nodes.MessageKind{toys[0], {Zero: toyReply{}, Heartbeat: true}})
	if per, kinds, ok = perEntry(beating, false); !ok || per != 4 || kinds[kindReply] != 4 {
		t.Errorf("without heartbeats: %v, %v, %v", per, kinds, ok)
	}
	per, kinds, ok = perEntry(ring(5), true)
	if !ok || per != 10 || kinds[kindRequest] != 10 {
		t.Errorf("circulating: %v, %v, %v", per, kinds, ok)
	}
	unrested := sound(2)
	unrested.forget(history.Marked, history.Rested)
	single := newWorld(2)
	single.mark(history.Measuring)
	single.turn(0)
	single.end()
	empty := newWorld(2)
	empty.end()
	for name, ok := range map[string]bool{
		"not at rest":               third(perEntry(unrested, false)),
		"one entry while measuring": third(perEntry(single, true)),
		"no entry":                  third(perEntry(empty, false)),
	} {
		if ok {
			t.Errorf("%s: messages per entry are known", name)
		}
	}
}

func third(_ float64, _ []float64, ok bool) bool { return ok }

// TestWitness compares the story of a violation with a golden file.
func TestWitness(t *testing.T) {
	w := measuring()
	w.together()
	w.end()
	many := newWorld(8)
	many.mark(history.Measuring)
	many.together()
	for _, id := range []nodes.ID{0, 1} {
		l := many.log(id)
		l.Trace = l.Trace[5:]
	}
	many.end()
	var b strings.Builder
	for _, w := range []*world{w, many} {
		for _, f := range w.judge().Findings {
			if f.Outcome != Valid {
				b.WriteString(f.Outcome.String() + ": " + f.Check + ": " + f.Says + "\n")
				for _, line := range f.Witness {
					b.WriteString("    " + line + "\n")
				}
			}
		}
		b.WriteString("\n")
	}
	golden(t, "testdata/witness.txt", b.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s: -want +got:\n%s", path, diff)
	}
}

// A resource of two units may be held by two, but not by three, nor by two if one has both units.
func TestCapacityIsInUnits(t *testing.T) {
	of := func(units ...uint32) Verdict {
		w := newWorld(3)
		w.Config.Units, w.CostKnown, w.Identities = 2, false, nil
		w.mark(history.Measuring)
		for id := range units {
			w.ask(nodes.ID(id))
			lastEvent(w.log(nodes.ID(id))).Count = units[id]
		}
		for id := range units {
			w.enter(nodes.ID(id))
			w.inside += units[id] - 1
			lastEvent(w.log(nodes.ID(id))).Count = w.inside
		}
		for id := range units {
			w.exit(nodes.ID(id))
		}
		w.end()
		return w.judge()
	}
	if v := of(1, 1); v.Outcome != Valid || v.Violations+v.LostUpdates != 0 {
		t.Errorf("two of two units: %+v", v)
	}
	for _, units := range [][]uint32{{1, 1, 1}, {2, 1}} {
		v := of(units...)
		for _, name := range []string{"exclusion", "register"} {
			f := finding(t, v, name)
			if f.Outcome != Violated || !strings.Contains(f.Says, "beyond the capacity of 2") {
				t.Errorf("%v of two units: %v: %s", units, f.Outcome, f.Says)
			}
		}
		if f := finding(t, v, "witnesses"); f.Outcome != Valid {
			t.Errorf("%v of two units: %s", units, f.Says)
		}
	}
}

// A client whose lease is lost leaves without writing to the account.
func TestRevokedSectionsAreOver(t *testing.T) {
	w := measuring()
	w.ask(0)
	w.permission(0)
	w.enter(0)
	w.totals(0).Exits++
	w.inside--
	w.add(0, history.Event{Kind: history.Revoked, Entry: 2, Value: w.account})
	w.turn(1)
	w.end()
	if v := w.judge(); v.Outcome != Valid || v.Unfinished != 0 {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
}

// Checks of the same name have the same subject and leave the same questions open in each kind of run.
func TestChecksOfOneNameAreAlike(t *testing.T) {
	for _, c := range Exclusion.checks {
		other := Election.check(c.name)
		if other == nil {
			continue
		}
		if c.about != other.about || c.leaves != other.leaves || c.split != other.split {
			t.Errorf("%s: %v and %v", c.name, c, *other)
		}
	}
	for _, p := range Problems {
		for _, c := range p.checks {
			if c.about == 0 || c.judge == nil {
				t.Errorf("%s of %s is about nothing, or judges nothing", c.name, p.Name)
			}
		}
	}
}
