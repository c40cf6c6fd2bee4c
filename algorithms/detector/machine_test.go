package detector

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A scene is a node of a detector among three clients and a server.
type scene struct {
	t     *testing.T
	node  *nodes.Node
	codec *nodes.Codec
}

func sceneOf(t *testing.T, text string, id nodes.ID, life uint32) *scene {
	t.Helper()
	in, err := Parse(text, 3, nodes.Delays{})
	if err != nil {
		t.Fatal(err)
	}
	central, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: central, Config: nodes.Config{N: 3}}, in)
	if err != nil {
		t.Fatal(err)
	}
	first := func(nodes.ID, int32, int) int { return 0 }
	return &scene{t, nodes.NewNode(stack.Stack, id, life, first), stack.Codec()}
}

// do hands the detector an input, and returns what it asks for, in words. From then on a copy takes the place
// of the node: machines are plain, so it is the same.
func (s *scene) do(in nodes.Input) string {
	in.Instance = 1
	var says []string
	for _, e := range s.node.Handle(in) {
		switch e.Op {
		case nodes.OpSend:
			says = append(says, fmt.Sprintf("%d<%v%v", e.To, s.codec.Name(int(e.Kind)), e.Message))
		case nodes.OpBroadcast:
			says = append(says, fmt.Sprintf("all<%v%v", s.codec.Name(int(e.Kind)), e.Message))
		case nodes.OpSetTimer:
			says = append(says, fmt.Sprintf("%v-%v", e.Min, e.Max)+strings.Repeat("*", int(e.Timer.Kind)))
		case nodes.OpSuspect:
			says = append(says, fmt.Sprintf("suspect %d", e.To))
		case nodes.OpTrust:
			says = append(says, fmt.Sprintf("trust %d", e.To))
		default:
			s.t.Fatalf("it does %+v", e)
		}
	}
	copied := s.node.Clone()
	if !bytes.Equal(s.node.AppendState(nil), copied.AppendState(nil)) {
		s.t.Fatal("a copy has another state")
	}
	s.node = copied
	return strings.Join(says, " ")
}

func (s *scene) start() string { return s.do(nodes.Input{Kind: nodes.Start}) }

func (s *scene) tick() string { return s.timeout(tick) }

// timeout has a timer run out.
func (s *scene) timeout(which nodes.Timer) string {
	for timer, gen := range s.node.Timers(1) {
		if timer == which {
			return s.do(nodes.Input{Kind: nodes.Timeout, Timer: timer, Gen: gen})
		}
	}
	s.t.Fatalf("the timer %v does not run", which)
	return ""
}

// hear hands the detector a message as it comes out of the codec.
func (s *scene) hear(from nodes.ID, m nodes.Message) string {
	kind := s.codec.KindOf(m)
	decoded, err := s.codec.Decoder().Decode(kind, s.codec.Append(nil, kind, m))
	if err != nil || !reflect.DeepEqual(decoded, m) {
		s.t.Fatalf("%+v is read as %+v, %v", m, decoded, err)
	}
	return s.do(nodes.Input{Kind: nodes.Receive, From: from, Message: decoded})
}

// expect fails the test unless each pair of texts is equal.
func expect(t *testing.T, pairs ...string) {
	t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != pairs[i+1] {
			t.Errorf("step %d: %q, want %q", i/2+1, pairs[i], pairs[i+1])
		}
	}
}

// The timeout is rounded up to two periods. A silence may begin within a period, so the third tick shows it.
func TestHeartbeat(t *testing.T) {
	const again = "all<beat{7} 3<beat{7} 1s-1s"
	s := sceneOf(t, "heartbeat:period=1s,timeout=1500ms,adapt=900ms", 1, 7)
	expect(t,
		s.start(), "all<beat{7} 3<beat{7} 0s-1s",
		s.tick(), again,
		s.hear(0, heartbeatBeat{}), "",
		s.tick(), again,
		s.hear(0, heartbeatBeat{}), "",
		s.tick(), again+" suspect 2 suspect 3", // nothing was heard of them for two whole periods
		s.hear(0, heartbeatBeat{}), "",
		s.tick(), again, // no one is suspected twice
		s.hear(2, heartbeatBeat{}), "trust 2", // it was suspected wrongly, and gets a period more
		s.hear(3, heartbeatBeat{1}), "trust 3", // it was suspected rightly: it has restarted
		s.hear(3, heartbeatBeat{0}), "", // on its way since before the crash
		s.hear(0, heartbeatBeat{}), "",
		s.tick(), again,
		s.tick(), again,
		s.hear(0, heartbeatBeat{}), "",
		s.tick(), again+" suspect 3",
		s.hear(3, heartbeatBeat{0}), "",
		s.hear(0, heartbeatBeat{}), "",
		s.tick(), again+" suspect 2",
	)
}

func TestProbe(t *testing.T) {
	asks := func(round int, first string) string {
		ping := fmt.Sprintf("ping{0 %d}", round)
		return fmt.Sprintf("1s-1s %sall<%s 3<%s", first, ping, ping)
	}
	s := sceneOf(t, "probe:period=1s,timeout=2s,adapt=1s", 2, 0)
	expect(t,
		s.start(), "0s-1s",
		s.tick(), asks(1, ""),
		s.hear(0, probePing{3, 8}), "0<pong{3 8 0}",
		s.hear(0, probePong{0, 1, 0}), "",
		s.hear(1, probePong{0, 1, 0}), "",
		s.hear(3, probePong{5, 9, 0}), "", // it answers what another incarnation asked
		s.tick(), asks(2, ""),
		s.hear(0, probePong{0, 2, 0}), "",
		s.tick(), asks(3, "suspect 3 "),
		s.hear(0, probePong{0, 3, 0}), "",
		s.hear(0, probePong{0, 2, 0}), "", // a copy
		s.tick(), asks(4, "suspect 1 "), // the second question is two seconds old
		s.hear(0, probePong{0, 4, 0}), "",
		s.hear(1, probePong{0, 2, 0}), "trust 1", // late: it gets a period more
		s.hear(3, probePong{0, 4, 1}), "trust 3",
		s.tick(), asks(5, ""),
		s.hear(0, probePong{0, 5, 0}), "",
		s.tick(), asks(6, "suspect 1 "),
		s.hear(0, probePong{0, 6, 0}), "",
		s.tick(), asks(7, "suspect 3 "),
	)
}

// A server takes part in detection: it sends heartbeats to all clients, and suspects them.
func TestServersTakePart(t *testing.T) {
	s := sceneOf(t, "heartbeat:period=1s,timeout=2s", 3, 0)
	expect(t, s.start(), "all<beat{0} 0s-1s")
	for range 2 {
		expect(t, s.tick(), "all<beat{0} 1s-1s")
	}
	expect(t, s.hear(1, heartbeatBeat{}), "", s.tick(), "all<beat{0} 1s-1s suspect 0 suspect 2")
}

// The perfect detector does nothing itself.
func TestPerfect(t *testing.T) {
	s := sceneOf(t, "perfect", 0, 0)
	expect(t, s.start(), "", s.do(nodes.Input{Kind: nodes.Suspect, From: 1}), "")
}

// In each period a detector asks for a few effects, however many nodes there are.
func TestDetectorsAskForFewEffects(t *testing.T) {
	for text, few := range map[string]int{"heartbeat": 2, "probe": 2, "phi": 2, "swim": 3} {
		eachTimeout(t, text, 1000, func(_ nodes.Timer, effects []nodes.Effect) {
			if len(effects) > few {
				t.Errorf("%s: %d effects", text, len(effects))
			}
		})
	}
}

// eachTimeout lets a timer of node 0 of n run out, three times, and calls effects with the timer and what the
// detector then asks for. The node has no machine but the detector.
func eachTimeout(t *testing.T, text string, n int, effects func(nodes.Timer, []nodes.Effect)) {
	t.Helper()
	in, err := Parse(text, n, nodes.Delays{})
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	node := nodes.NewNode(stack.Stack, 0, 0, func(nodes.ID, int32, int) int { return 0 })
	node.Handle(nodes.Input{Kind: nodes.Start})
	for range 3 {
		for timer, gen := range node.Timers(0) {
			effects(timer, node.Handle(nodes.Input{Kind: nodes.Timeout, Timer: timer, Gen: gen}))
			break
		}
	}
}
