package election

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// bullies are sound algorithms of the bully and its variants. Some are listed once more with an option set.
var bullies = []struct {
	algorithm *algorithm.Algorithm
	option    [2]string
}{
	{&bullyAlgorithm, [2]string{}}, {&bullyAlgorithm, [2]string{"notice", "lower"}}, {&fastBullyAlgorithm,
		[2]string{}},
	{&bullyMajorityAlgorithm, [2]string{}}, {&bullySecondNetworkAlgorithm, [2]string{}},
	{&bullySecondNetworkAlgorithm, [2]string{"majority", "on"}}, {&bullySharedDiskAlgorithm, [2]string{}},
}

// of returns the configuration of n nodes with an option.
func of(n int, option [2]string) nodes.Config {
	c := nodes.Config{N: n}
	if option[0] != "" {
		c = c.With(option[0], option[1])
	}
	return c
}

// faults reads faults as plans have them.
func faults(t testing.TB, texts ...string) (all []chaos.Fault) {
	t.Helper()
	for _, text := range texts {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// told tells what nodes declared from a time on, in order.
func (o *outcome) told(from time.Duration) string {
	var all []string
	for _, b := range o.Beliefs {
		switch {
		case b.From < int64(from):
			continue
		case b.Leads():
			all = append(all, fmt.Sprintf("%d leads", b.Node))
		case b.Leader == nodes.None:
			all = append(all, fmt.Sprintf("%d knows no leader", b.Node))
		default:
			all = append(all, fmt.Sprintf("%d follows %d", b.Node, b.Leader))
		}
		if b.Term > 0 {
			all[len(all)-1] += fmt.Sprintf(" in %d", b.Term)
		}
	}
	return strings.Join(all, "; ")
}

// at returns the leader that a node followed at a time.
func (o *outcome) at(id nodes.ID, at time.Duration) nodes.ID {
	for _, b := range o.Beliefs {
		if b.Node == id && b.From <= int64(at) && int64(at) < b.To {
			return b.Leader
		}
	}
	return nodes.None
}

// believe demands the leader that each node followed at a time.
func (o *outcome) believe(t testing.TB, at time.Duration, want ...nodes.ID) {
	t.Helper()
	var got []nodes.ID
	for id := range want {
		got = append(got, o.at(nodes.ID(id), at))
	}
	if !slices.Equal(got, want) {
		t.Errorf("at %v they follow %v, not %v", at, got, want)
	}
}

func TestElectionsCostWhatTheyShould(t *testing.T) {
	for _, n := range []int{3, 4, 5, 9, 16, 32} {
		all := n*n - n - 1 // N(N-1)/2 election, (N-1)(N-2)/2 ok and N-2 coordinator
		for _, test := range []struct {
			algorithm         *algorithm.Algorithm
			option            [2]string
			lowest, next, any int // messages if the lowest, the next in rank, or all find the leader dead
			back              int // further messages when the highest comes up again
		}{
			{&bullyAlgorithm, [2]string{}, all, n - 1, all, n - 1},
			// Each node that holds an election tells all lower ones.
			{&bullyAlgorithm, [2]string{"notice", "lower"}, all + (n-1)*(n-2)/2, n - 1 + n - 2, all + (n-1)*(n-2)/2,
				n - 1},
			// ELECTION, ANSWER, one NOMINATION, COORDINATOR. The case that all find the leader dead is left out (0):
			// several nodes may nominate then. The return of the highest takes IAMUP, VIEW and COORDINATOR.
			{&fastBullyAlgorithm, [2]string{}, 3*n - 4, n - 1, 0, 3 * (n - 1)},
			// As bully, with a CLAIM and a VOTE beside each COORDINATOR. The highest has missed an epoch when it is
			// back, so its first claim is refused.
			{&bullyMajorityAlgorithm, [2]string{}, all + 2*(n-2), n - 1 + 2*(n-2), all + 2*(n-2), 5 * (n - 1)},
			// The dead leader is asked once more, over the second network, before another node leads.
			{&bullySecondNetworkAlgorithm, [2]string{}, all + 1, n, all + 1, n - 1},
		} {
			for _, of3 := range []struct {
				initiators workload.Initiators
				want       int
			}{{workload.LowestInitiates, test.lowest}, {workload.TheseInitiate(nodes.ID(n - 2)), test.next},
				{workload.AllInitiate, test.any}} {
				if of3.want == 0 {
					continue
				}
				s := scenario{algorithm: test.algorithm, config: of(n, test.option), initiators: of3.initiators,
					detector: "none",
					faults:   []chaos.Fault{down(nodes.ID(n - 1))}}
				o := s.simulated(t)
				o.leads(t, nodes.ID(n-2))
				if got := o.messages(); got != uint64(of3.want) {
					t.Errorf("%s%v, n=%d, initiators %s: %d messages, not %d: %v", test.algorithm.Name, test.option, n,
						of3.initiators, got, of3.want, o.sent)
				}
				// The same, and then the dead node comes up again.
				s.faults[0].For = 5 * time.Second
				o = s.simulated(t)
				if got := int(o.messages()) - of3.want; got != test.back || o.leader() != nodes.ID(n-1) {
					t.Errorf("%s%v, n=%d: %d leads, by %d messages and not %d: %v", test.algorithm.Name, test.option, n,
						o.leader(), got, test.back, o.sent)
				}
			}
		}
	}
}

// Clusters of one and of two, where every node is the highest, the lowest or both.
func TestSmallClustersElect(t *testing.T) {
	for _, b := range bullies {
		for n := 1; n <= 2; n++ {
			o := scenario{algorithm: b.algorithm, config: of(n, b.option)}.simulated(t)
			o.leads(t, nodes.ID(n-1))
			if n == 1 {
				continue
			}
			// The node that is left leads, unless the algorithm needs a majority: of two nodes, that is both.
			o = scenario{algorithm: b.algorithm, config: of(n, b.option),
				faults: faults(t, "kill: 1, at: 2s")}.simulated(t)
			want := nodes.ID(0)
			if b.algorithm == &bullyMajorityAlgorithm || b.option[0] == "majority" {
				want = nodes.None
			}
			if o.believe(t, 6*time.Second, want); o.leader() != want {
				t.Errorf("%s%v: %d leads: %s", b.algorithm.Name, b.option, o.leader(), o.told(2*time.Second))
			}
		}
	}
}

// In a partition the bully has a leader on either side. So has bully-second-network if its second network is
// cut as well. A scheme that needs a majority or the disk has one leader at most.
func TestPartition(t *testing.T) {
	const n, begins, heals = 5, 2 * time.Second, 5 * time.Second
	none := nodes.None
	for _, test := range []struct {
		algorithm *algorithm.Algorithm
		option    [2]string
		cut       string
		want      []nodes.ID // the leader of each when the partition has lasted for long
		after     nodes.ID   // the leader of all when the partition has healed
	}{
		{&bullyAlgorithm, [2]string{}, "0-2/3-4", []nodes.ID{2, 2, 2, 4, 4}, 4},
		{&bullyAlgorithm, [2]string{}, "0-1/2-4", []nodes.ID{1, 1, 4, 4, 4}, 4},
		{&fastBullyAlgorithm, [2]string{}, "0-2/3-4", []nodes.ID{2, 2, 2, 4, 4}, 4},
		{&bullyMajorityAlgorithm, [2]string{}, "0-2/3-4", []nodes.ID{2, 2, 2, none, none}, 4},
		{&bullyMajorityAlgorithm, [2]string{}, "0-1/2-4", []nodes.ID{none, none, 4, 4, 4}, 4},
		{&bullyMajorityAlgorithm, [2]string{}, "0-1/2-3/4", []nodes.ID{none, none, none, none, none}, 4},
		// One network of two: nobody is taken for dead, and no election takes place.
		{&bullySecondNetworkAlgorithm, [2]string{}, "0-2/3-4, network: 0", []nodes.ID{4, 4, 4, 4, 4}, 4},
		{&bullySecondNetworkAlgorithm, [2]string{}, "0-2/3-4, network: 1", []nodes.ID{4, 4, 4, 4, 4}, 4},
		{&bullySecondNetworkAlgorithm, [2]string{}, "0-2/3-4", []nodes.ID{2, 2, 2, 4, 4}, 4}, // both
		{&bullySecondNetworkAlgorithm, [2]string{"majority", "on"}, "0-2/3-4, network: 0",
			[]nodes.ID{4, 4, 4, 4, 4}, 4},
		{&bullySecondNetworkAlgorithm, [2]string{"majority", "on"}, "0-2/3-4, network: 1",
			[]nodes.ID{4, 4, 4, 4, 4}, 4},
		{&bullySecondNetworkAlgorithm, [2]string{"majority", "on"}, "0-2/3-4", []nodes.ID{2, 2, 2, none, none}, 4},
		{&bullySecondNetworkAlgorithm, [2]string{"majority", "on"}, "0-1/2-4", []nodes.ID{none, none, 4, 4, 4}, 4},
		// The disk is node 5. All reach it; the followers alone do; the leader alone; nobody does.
		{&bullySharedDiskAlgorithm, [2]string{}, "0-2/3-4", []nodes.ID{4, 4, 4, 4, 4}, 4},
		{&bullySharedDiskAlgorithm, [2]string{}, "3-4/0-2,5", []nodes.ID{2, 2, 2, none, none}, 2},
		{&bullySharedDiskAlgorithm, [2]string{}, "0-3/4-5", []nodes.ID{none, none, none, none, 4}, 4},
		{&bullySharedDiskAlgorithm, [2]string{}, "0-4/5", []nodes.ID{none, none, none, none, none}, 4},
		// the leader alone is cut off
		{&bullySharedDiskAlgorithm, [2]string{}, "4/5", []nodes.ID{3, 3, 3, 3, 3}, 3},
	} {
		name := fmt.Sprint(test.algorithm.Name, test.option, " ", test.cut)
		cut := fmt.Sprintf("cut: %s, at: %v, for: %v", test.cut, begins, heals-begins)
		o := scenario{algorithm: test.algorithm, config: of(n, test.option), faults: faults(t, cut)}.simulated(t)
		t.Run(name, func(t *testing.T) { o.believe(t, heals-time.Millisecond, test.want...) })
		if o.leader() != test.after {
			t.Errorf("%s: %d leads when it is healed, not %d: %s", name, o.leader(), test.after, o.told(heals))
		}
		leaders := map[nodes.ID]bool{}
		for id, leader := range test.want {
			if nodes.ID(id) == leader {
				leaders[leader] = true
			}
		}
		if two := len(o.Overlaps) > 0; two != (len(leaders) > 1) || len(o.Conflicts)+len(o.Backwards) > 0 {
			t.Errorf("%s: two leaders at once %v, in one term %v; backwards %v", name, o.Overlaps, o.Conflicts,
				o.Backwards)
		}
		// If all are to go on following node 4, no node declares any change from the cut on.
		if !slices.ContainsFunc(test.want, func(id nodes.ID) bool { return id != 4 }) && o.told(begins) != "" {
			t.Errorf("%s changes something: %s", name, o.told(begins))
		}
		agreed := time.Duration(o.Agreements[len(o.Agreements)-1].Agreed)
		if agreed > heals+test.algorithm.Grace(of(n, test.option)) {
			t.Errorf("%s: all agree at %v, which is later than the grace allows", name, agreed)
		}
	}
}

// late delays messages: nobody is cut off, node 4 is dead, and nodes 2 and 3 both come to lead.
var late = []string{"kill: 4", "delay: 150ms, between: 3>2, kind: ok",
	"delay: 1s, between: 2>0, kind: coordinator"}

// A node believes a late announcement: for ever, unless it asks the leader that it followed before. With
// epochs, a node ignores a late announcement.
func TestLateMessages(t *testing.T) {
	credulous := bullyAlgorithm
	credulous.New = func(c nodes.Config) nodes.Machine { return &bullyCredulous{*newBully(c)} }
	s := scenario{algorithm: &credulous, config: nodes.Config{N: 5}, initiators: "2", detector: "none",
		faults: faults(t, late...), duration: 5 * time.Second}
	o := s.simulated(t)
	if got, want := o.told(0), "2 leads; 1 follows 2; "+
		"3 leads; 0 follows 3; 1 follows 3; 2 follows 3; 0 follows 2"; got != want || o.leader() != nodes.None {
		t.Errorf("%s, and not %s; %d leads at the end", got, want, o.leader())
	}
	s.algorithm = &bullyAlgorithm
	o = s.simulated(t)
	if got, want := o.told(0), "2 leads; 1 follows 2; 3 leads; 0 follows 3; 1 follows 3; 2 follows 3; "+
		"0 follows 2; 3 knows no leader; 3 leads; 0 follows 3"; got != want || o.leader() != 3 {
		t.Errorf("%s, and not %s; %d leads at the end", got, want, o.leader())
	}
	s.algorithm = &bullyMajorityAlgorithm
	o = s.simulated(t)
	if got, want := o.told(0), "2 leads in 1; 1 follows 2 in 1; 1 knows no leader in 2; "+
		"2 knows no leader in 2; 3 leads in 2; 0 follows 3 in 2; 1 follows 3 in 2; "+
		"2 follows 3 in 2"; got != want || o.leader() != 3 {
		t.Errorf("%s, and not %s; %d leads at the end", got, want, o.leader())
	}
}

// The node that answered crashes before it announces itself: the others begin again, unless they wait for
// ever.
func TestCrashInTheMiddleOfAnElection(t *testing.T) {
	for _, b := range bullies {
		s := scenario{algorithm: b.algorithm, config: of(5, b.option), initiators: workload.LowestInitiates,
			faults: faults(t, "kill: 4", "kill: 3, at: 50ms")}
		if o := s.simulated(t); o.leader() != 2 {
			t.Errorf("%s%v: %d leads: %s", b.algorithm.Name, b.option, o.leader(), o.told(0))
		}
	}
	o := scenario{algorithm: &bullyNoTimeoutAlgorithm, config: nodes.Config{N: 5},
		initiators: workload.LowestInitiates,
		faults:     faults(t, "kill: 4", "kill: 3, at: 50ms")}.simulated(t)
	if o.leader() != nodes.None || o.told(time.Second) != "" {
		t.Errorf("%d leads: %s", o.leader(), o.told(0))
	}
}

// Leaders crash again and again, and each is back before the next one crashes.
func TestTenLeadersCrash(t *testing.T) {
	var crashes []string
	for i := range 10 {
		crashes = append(crashes, fmt.Sprintf("kill: leader, at: %ds, for: 1500ms", 2+3*i))
	}
	for _, b := range bullies {
		for _, n := range []int{3, 5, 9} {
			s := scenario{algorithm: b.algorithm, config: of(n, b.option), duration: 32 * time.Second,
				faults: faults(t, crashes...)}
			o := s.simulated(t)
			if o.leader() == nodes.None || len(o.Restarts) != 10 || len(o.Conflicts)+len(o.Backwards) > 0 {
				t.Errorf("%s%v: %d leads after %d restarts: %v", b.algorithm.Name, b.option, o.leader(), len(o.Restarts),
					o.last())
			}
			crashed := 0
			for _, e := range o.Agreements {
				if e.Cause.What == leadership.LeaderCrashed && !e.Again {
					crashed++
				}
			}
			if crashed != 10 || o.TwoLeaders > int64(10*hop) {
				t.Errorf("%s%v: %d elections after 10 crashes, and two leaders for %v", b.algorithm.Name, b.option,
					crashed,
					time.Duration(o.TwoLeaders))
			}
		}
	}
}

// A leader stands still until another is elected. When it goes on, it takes over again, except with a disk.
func TestALeaderThatStandsStill(t *testing.T) {
	for _, b := range bullies {
		o := scenario{algorithm: b.algorithm, config: of(5, b.option),
			faults: faults(t, "pause: 4, at: 2s, for: 2s")}.simulated(t)
		want := nodes.ID(4)
		if b.algorithm == &bullySharedDiskAlgorithm {
			want = 3 // the owner of the lock keeps it
		}
		o.believe(t, 3900*time.Millisecond, 3, 3, 3, 3, 4)
		if o.leader() != want || len(o.Conflicts)+len(o.Backwards) > 0 || o.TwoLeaders > int64(10*hop) {
			t.Errorf("%s%v: %d leads, after two leaders for %v: %s", b.algorithm.Name, b.option, o.leader(),
				time.Duration(o.TwoLeaders), o.told(2*time.Second))
		}
	}
}
