package bench

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/election"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/sim"
	"turnstile/option"
)

// A stage is a cluster that carries out every fault. A client loses its answer 20 ms after the fault began.
type stage struct {
	port.Cluster
	now, strained int64
	events        []history.Event
}

func (s *stage) Now() int64                                         { return s.now }
func (s *stage) Up(port.Member) bool                                { return true }
func (s *stage) Kill(port.Member) error                             { return nil }
func (s *stage) Start(port.Member, bool) error                      { return nil }
func (s *stage) Stop(port.Member) error                             { return nil }
func (s *stage) Continue(port.Member) error                         { return nil }
func (s *stage) Promote(port.Member) error                          { return nil }
func (s *stage) Leave(port.Member, time.Duration) error             { return nil }
func (s *stage) Delete(port.Member, bool) error                     { return nil }
func (s *stage) Expire(port.Member) error                           { return nil }
func (s *stage) Relieve(int) error                                  { return nil }
func (s *stage) SetClock(port.Member, time.Duration, float64) error { return nil }
func (s *stage) Lost(int) (port.Lost, error) {
	ago := time.Duration(s.now - s.strained - 20e6)
	return port.Lost{Answers: 1, First: ago, Last: ago}, nil
}
func (s *stage) Strain(int, port.Strain) error {
	s.strained = s.now
	return nil
}
func (s *stage) Find(port.Relation, port.Member) ([]port.Member, error) {
	return []port.Member{{Role: port.Server, I: 1}}, nil
}
func (s *stage) Record(e port.FaultEvent) error {
	s.events = append(s.events, history.FaultEvent(e))
	return nil
}

// carriedFaults carries out faults on a stage for a minute, and returns the events of faults.
func carriedFaults(t *testing.T, _ Options, spec *algorithm.Algorithm, faults []chaos.Fault) []history.Event {
	t.Helper()
	d, err := chaos.NewDriver(faults, chaos.NewSharedState(5), 5, spec.CodecIn(nodes.Config{N: 5}))
	s := &stage{now: 1}
	if err == nil {
		err = d.Begin(s, 1)
	}
	for err == nil && d.Next() < int64(time.Minute) {
		s.now = max(s.now, d.Next())
		err = d.Step()
	}
	if s.now = int64(time.Minute); err == nil {
		err = d.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.events
}

// A faultLog keeps the events of faults of a history.
type faultLog struct{ events []history.Event }

func (l *faultLog) Add(e history.Event) {
	if e.Kind == history.FaultBegan || e.Kind == history.FaultHealed {
		l.events = append(l.events, e)
	}
}
func (l *faultLog) Close([]*history.NodeLog) {}

// agreement judges a run of a minute with these events of faults, and returns the finding about agreement.
// When the first fault begins, all nodes lose their leader, and they elect no other.
func agreement(t *testing.T, faults []chaos.Fault, events []history.Event) check.Finding {
	t.Helper()
	const live = nodes.Timing | nodes.NoPause | nodes.ServerMajority // assumptions that hold again after faults
	s := check.Setting{Problem: check.Election, Config: nodes.Config{N: 5}, Leads: &algorithm.Leadership{},
		Grace: time.Second, Live: live, Faults: CheckedFaults(faults, false)}
	sections := check.Sections(history.Header{Nodes: 5}, s)
	f := check.New(sections, s)
	var logs []*history.NodeLog
	mark := func(at time.Duration, m uint32) {
		sections.Add(history.Event{At: int64(at), Kind: history.Marked, Count: m, Node: nodes.None})
	}
	elect := func(at int64, leader uint32) {
		for id := range nodes.ID(5) {
			sections.Add(history.Event{At: at, Kind: history.Elected, Node: id, Count: leader})
		}
	}
	mark(0, history.Began)
	mark(0, history.Measuring)
	elect(1e6, 4)
	sections.Add(events[0])
	elect(events[0].At+1, history.NoLeader)
	for _, e := range events[1:] {
		sections.Add(e)
	}
	mark(time.Minute, history.Stopped)
	mark(time.Minute, history.Rested)
	for id := nodes.None; id < 5; id++ {
		logs = append(logs, &history.NodeLog{Node: id})
	}
	sections.Close(logs)
	v := f.Verdict()
	return v.Findings[slices.IndexFunc(v.Findings, func(f check.Finding) bool { return f.Check == "agreement" })]
}

// everyFault returns faults of a kind that begin after a second, and whether they end before the run.
func everyFault(k *effect.Kind) map[*chaos.Fault]bool {
	all := map[*chaos.Fault]bool{}
	text := strings.NewReplacer("holder", "1", "leader", "1", "waiter", "1", ", nth: 1", "").Replace(k.Example)
	text, _, _ = strings.Cut(text, ", for:")
	for _, form := range []string{"", ", for: 1s", ", nth: 1"} {
		if f, err := chaos.ParseFault(text + ", at: 1s" + form); err == nil { // some kinds do not take these keys
			all[&f] = f.For > 0 || f.ForGood()
		}
	}
	return all
}

// Each effect has an end, in simulated and in real runs: nodes that do not recover after it break their
// promise. A fault that is in force to the end of the run excuses them.
func TestEveryEffectHasAnEnd(t *testing.T) {
	spec, err := election.Find("raft-election")
	if err != nil {
		t.Fatal(err)
	}
	all := map[*chaos.Fault]bool{}
	for _, k := range effect.Kinds {
		maps.Copy(all, everyFault(k))
	}
	majority, err := chaos.ParseFault("kill: server 0-1, at: 1s") // it is for good, and lasts
	if err != nil {
		t.Fatal(err)
	}
	all[&majority] = false
	judged := map[*effect.Kind]bool{}
	for f, ends := range all {
		o := option.Defaults()
		o.Config.N, o.Duration, o.Hosts, o.Faults = 5, time.Minute, 3, []chaos.Fault{*f}
		for _, simulated := range []bool{true, false} {
			s, kind := drafted(t, spec, o, simulated).Scene(), effect.KindOf(f.Effect)
			s.Servers = chaos.Servers{Service: "redis", Count: 3, Leads: true, Promotes: true, Peers: true,
				Deletes: true, Queues: true, Expires: true}
			faults, err := chaos.Resolve(o.Faults, s, 1)
			if err != nil || !simulated && !kind.Carried() { // not a fault of such a run
				continue
			}
			judged[kind] = true
			events := simulatedFaults
			if !simulated {
				events = carriedFaults
			}
			got := agreement(t, faults, events(t, o, spec, faults))
			if is := got.Outcome == check.Violated; is != ends {
				t.Errorf("%v, simulated %v: %v: %s", f, simulated, got.Outcome, got.Says)
			}
		}
	}
	if len(judged) != len(effect.Kinds)-1 { // nodes of raft-election do not leave in order
		t.Errorf("%d of %d kinds of faults were judged", len(judged), len(effect.Kinds))
	}
}

// simulatedFaults makes a simulated run, and returns the events of faults.
func simulatedFaults(t *testing.T, o Options, spec *algorithm.Algorithm, _ []chaos.Fault) []history.Event {
	t.Helper()
	var l faultLog
	if _, err := sim.Run(*simulated(t, o, spec), &l); err != nil {
		t.Fatal(err)
	}
	return l.events
}
