package detector

import (
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// assembled returns the stack of a detector beside clients that request nothing.
func assembled(of *algorithm.Algorithm, c nodes.Config) *algorithm.Stack {
	ricart, err := mutex.Find("ricart-agrawala")
	if err != nil {
		panic(err) // the table lacks it
	}
	return algotest.StackOf(ricart, nodes.Config{N: c.N}, algorithm.Instance{Algorithm: of, Config: c})
}

// Each figure holds that a detector states about a value of its options. The checks of accuracy take the
// parameters of the detector.
func TestOptionsDoWhatTheirAlgorithmsSay(t *testing.T) { algotest.Options(t, Table, assembled) }

// The figures hold that a detector states about its accuracy and speed.
func TestDetectorsAreAsAccurateAsTheySay(t *testing.T) { algotest.Accuracy(t, Table, assembled) }

// A swimLess is swim without one of its means.
type swimLess struct {
	swim
	rule swimRule
}

type swimRule uint8

const (
	noAcks swimRule = iota
	noHelp
	noGossip
)

func (s *swimLess) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	_, acks := m.(swimPingAck)
	_, asks := m.(swimPingReq)
	switch {
	case s.rule == noAcks && acks, s.rule == noHelp && asks:
		return
	case s.rule == noGossip:
		m = gossiping(m, func(u swimUpdate) bool { return u.Member == env.Self() })
	}
	s.swim.Receive(env, from, m)
}

func TestInaccurateDetectorsAreFound(t *testing.T) {
	swims := algotest.MutantsOf[swim](&swimAlgorithm)
	less := func(rule swimRule) func(swim) nodes.Machine {
		return func(s swim) nodes.Machine { return &swimLess{s, rule} }
	}
	algotest.InaccurateMutants(t, []algotest.Mutant{
		swims("acks are ignored", less(noAcks)),
		swims("nobody helps", less(noHelp)),
		swims("gossip is ignored", less(noGossip)),
		algotest.MutantsOf[heartbeat](&heartbeatAlgorithm)("the timeout is shorter",
			func(h heartbeat) nodes.Machine {
				h.timeout -= 2
				return &h
			}),
		algotest.MutantsOf[phi](&phiAlgorithm)("the threshold is ignored", func(p phi) nodes.Machine {
			p.bound = phiBounds[0]
			return &p
		}),
	}, assembled)
}
