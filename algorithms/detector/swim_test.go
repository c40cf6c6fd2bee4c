package detector

import (
	"testing"

	"turnstile/nodes"
)

// swimScene returns node 0 of four members with a period of one second. Whenever it chooses a member at
// random, it gets the first one.
func swimScene(t *testing.T, options string) *scene {
	t.Helper()
	return sceneOf(t, "swim:period=1s,timeout=100ms,suspicion=1,"+options, 0, 0)
}

const second = "1s-1s"

// SWIM 3.1: a member pings one other per period, asks k others to ping it if no ack comes in time, and
// takes it for alive if one of them passes an ack on. A probe that fails makes a suspect, and a suspect
// that does not refute it is declared faulty.
func TestSwimProbes(t *testing.T) {
	s := swimScene(t, "k=2")
	noAck := nodes.Timer{Kind: swimNoAck}
	expect(t,
		s.start(), "0s-1s",
		s.tick(), "1<ping{0 1 {0 []}} 100ms-100ms* "+second,
		s.hear(1, swimPingAck{For: 0, Probe: 1}), "",
		s.tick(), "2<ping{0 2 {0 []}} 100ms-100ms* "+second,
		s.timeout(noAck), "1<pingreq{2 2 {0 []}} 3<pingreq{2 2 {0 []}}",
		s.hear(3, swimPingAck{For: 0, Probe: 2}), "", // passes on the ack of node 2
		s.tick(), "3<ping{0 3 {0 []}} 100ms-100ms* "+second,
		s.hear(3, swimPingAck{For: 0, Probe: 2}), "", // late
		s.timeout(noAck), "1<pingreq{3 3 {0 []}} 2<pingreq{3 3 {0 []}}",
		s.hear(1, swimPingNack{Probe: 3}), "",
		s.hear(2, swimPingNack{Probe: 3}), "",
		// Node 3 is suspected: that is gossiped, but not reported. Both nacks came, so node 0 keeps health score 0.
		s.tick(), "1<ping{0 4 {0 [{3 1 0}]}} 100ms-100ms* "+second,
		s.hear(1, swimPingAck{For: 0, Probe: 4}), "",
		// Two periods later, ⌈log₂ 4⌉, node 3 is declared faulty.
		s.tick(), "2<ping{0 5 {0 [{3 1 0}]}} 100ms-100ms* "+second,
		s.hear(2, swimPingAck{For: 0, Probe: 5}), "",
		s.tick(), "suspect 3 3<ping{0 6 {0 [{3 2 0} {3 2 0}]}} 100ms-100ms* "+second,
		// It is pinged as well, to find out whether it is up again, and nobody else is asked to.
		s.timeout(noAck), "",
		s.tick(), "1<ping{0 7 {0 [{3 2 0}]}} 100ms-100ms* "+second,
		// An alive update of its next incarnation revokes the declaration. Updates of the old one have no effect.
		s.hear(1, swimPingAck{0, 7, swimGossip{0, []swimUpdate{{3, swimAlive, 1}}}}), "trust 3",
		s.hear(1, swimPing{1, 9, swimGossip{0, []swimUpdate{{3, swimFaulty, 0}}}}), "1<pingack{1 9 {0 [{3 0 1}]}}",
	)
}

// A member that helps another one passes the ack on, and sends a nack if no ack comes in time.
func TestSwimHelps(t *testing.T) {
	s := swimScene(t, "k=2")
	const none = "{0 []}"
	s.start()
	expect(t,
		s.hear(1, swimPingReq{Target: 2, Probe: 5}), "2<ping{1 5 "+none+"} 100ms-100ms**",
		s.timeout(nodes.Timer{Kind: swimNoHelp, Peer: 1}), "1<pingnack{5 "+none+"}",
		s.hear(2, swimPingAck{For: 1, Probe: 5}), "1<pingack{1 5 "+none+"}",
		s.hear(1, swimPingReq{Target: 2, Probe: 6}), "2<ping{1 6 "+none+"} 100ms-100ms**",
		s.hear(2, swimPingAck{For: 1, Probe: 6}), "1<pingack{1 6 "+none+"}",
	)
	for timer := range s.node.Timers(1) {
		if timer.Kind == swimNoHelp {
			t.Error("it would say that no ack has come")
		}
	}
}

// SWIM 4.2: a member that hears of its suspicion begins its next incarnation, and refutes only a suspicion
// of the current one. Lifeguard: a suspicion tells a member that it may be unwell, so its period is longer
// until a probe succeeds; so does a helper that sends nothing.
func TestSwimRefutes(t *testing.T) {
	s := swimScene(t, "k=2")
	suspicion := func(state uint8, incarnation uint64) swimGossip {
		return swimGossip{0, []swimUpdate{{0, state, incarnation}}}
	}
	expect(t,
		s.start(), "0s-1s",
		s.tick(), "1<ping{0 1 {0 []}} 100ms-100ms* "+second,
		s.hear(1, swimPingAck{0, 1, suspicion(swimSuspect, 0)}), "",
		s.hear(2, swimPing{2, 1, suspicion(swimSuspect, 0)}), "2<pingack{2 1 {1 [{0 0 1}]}}",
		s.hear(2, swimPing{2, 2, suspicion(swimFaulty, 1)}), "2<pingack{2 2 {2 [{0 0 2}]}}",
		s.tick(), "2<ping{0 2 {2 [{0 0 2}]}} 200ms-200ms* 2s-2s", // the probe succeeded, two refutations
		s.timeout(nodes.Timer{Kind: swimNoAck}), "1<pingreq{2 2 {2 [{0 0 2}]}} 3<pingreq{2 2 {2 [{0 0 2}]}}",
		s.hear(1, swimPingNack{Probe: 2}), "",
		s.tick(), "3<ping{0 3 {2 [{2 1 0} {0 0 2}]}} 300ms-300ms* 3s-3s",
	)
}

// What a message carries is bounded, however much there is to tell, and what has been told least comes first.
func TestSwimGossipIsBounded(t *testing.T) {
	in, err := Parse("swim", 100, nodes.Delays{})
	if err != nil {
		t.Fatal(err)
	}
	s := swimOf(in.Config)
	s.members = make([]swimMember, 100)
	for id := range nodes.ID(100) {
		s.members[id] = swimMember{state: swimFaulty, left: 2}
		s.news = append(s.news, id)
	}
	told := map[nodes.ID]int{}
	for len(s.news) > 0 {
		g := s.gossip(99)
		if len(g.Updates) > 1+swimMost {
			t.Fatalf("%d updates", len(g.Updates))
		}
		for _, u := range g.Updates[1:] {
			told[u.Member]++
		}
	}
	for id, times := range told {
		if times != 2 {
			t.Errorf("node %d is told of %d times", id, times)
		}
	}
}

// With two members there is nobody to ask, and with one nobody to ping.
func TestSwimOfFew(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 3} {
		eachTimeout(t, "swim", n, func(timer nodes.Timer, effects []nodes.Effect) {
			if timer == tick && len(effects) < want || timer != tick && len(effects) > 0 {
				t.Errorf("%d: %+v", n, effects)
			}
		})
	}
}
