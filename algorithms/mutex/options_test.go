package mutex

import (
	"testing"

	"turnstile/algorithms/election"
	"turnstile/judge/rowtest"
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// assembled returns the stack of a row beside its failure detector.
func assembled(of *row.Row, c nodes.Config) *row.Stack {
	beside := besides(of, c.N, of.Detects)
	if c.Elect != "" {
		elector, err := row.ParseInstance("elector", election.Table, c.Elect, c.N, nodes.Delays{})
		if err != nil {
			panic(err) // a row states a wrong elector
		}
		beside = append(beside, elector)
	}
	return rowtest.StackOf(of, c, beside...)
}

// Each figure holds that a row states about a value of its options.
func TestOptionsDoWhatTheirRowsSay(t *testing.T) { rowtest.Options(t, Table, assembled) }

// The highest ID comes first with the priority of IDs, and the index is half of what was asked for.
func TestOptionMutantsAreCaught(t *testing.T) {
	rowtest.OptionMutants(t, []rowtest.Mutant{
		rowtest.MutantsOf[ricartRanked](&ricartAgrawalaRow)("priority: the highest ID comes first",
			func(r ricartRanked) nodes.Machine { return &ricartHighest{r} }),
		rowtest.MutantsOf[suzukiModulo](&suzukiKasamiRow)("index: it is half of what was asked for",
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
