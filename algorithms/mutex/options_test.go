package mutex

import (
	"testing"

	"turnstile/algorithms/election"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// assembled returns the stack of an algorithm beside its failure detector.
func assembled(of *algorithm.Algorithm, c nodes.Config) *algorithm.Stack {
	beside := besides(of, c.N, of.Detects)
	if c.Elect != "" {
		elector, err := algorithm.ParseInstance("elector", election.Table, c.Elect, c.N, nodes.Delays{})
		if err != nil {
			panic(err) // an algorithm states a wrong elector
		}
		beside = append(beside, elector)
	}
	return algotest.StackOf(of, c, beside...)
}

// Each figure holds that an algorithm states about a value of its options.
func TestOptionsDoWhatTheirAlgorithmsSay(t *testing.T) { algotest.Options(t, Table, assembled) }

// The highest ID comes first with the priority of IDs, and the index is half of what was asked for.
func TestOptionMutantsAreCaught(t *testing.T) {
	algotest.OptionMutants(t, []algotest.Mutant{
		algotest.MutantsOf[ricartRanked](&ricartAgrawalaAlgorithm)("priority: the highest ID comes first",
			func(r ricartRanked) nodes.Machine { return &ricartHighest{r} }),
		algotest.MutantsOf[suzukiModulo](&suzukiKasamiAlgorithm)("index: it is half of what was asked for",
			func(s suzukiModulo) nodes.Machine {
				s.modulus /= 2
				return &s
			}),
	}, assembled)
}

type ricartHighest struct{ ricartRanked }

func (r *ricartHighest) Request(env *nodes.Env) {
	if r.by == byID { // numbers that are lower at higher nodes
		r.by, r.last = byFewest, uint64(env.N()-int(env.Self()))<<12
	}
	r.ricartRanked.Request(env)
}
