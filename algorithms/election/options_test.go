package election

import (
	"testing"

	"turnstile/algorithms/detector"
	"turnstile/judge/rowtest"
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// assembled returns the stack of a row beside its failure detector.
func assembled(of *row.Row, c nodes.Config) *row.Stack {
	if of.Detects == "" {
		return rowtest.StackOf(of, c)
	}
	in, err := detector.Parse(of.Detects, c.N, nodes.Delays{})
	if err != nil {
		panic(err) // a row names a wrong detector
	}
	return rowtest.StackOf(of, c, in)
}

// Each figure holds that a row states about a value of its options.
func TestOptionsDoWhatTheirRowsSay(t *testing.T) { rowtest.Options(t, Table, assembled) }

// The patience with a node never grows.
func TestOptionMutantsAreCaught(t *testing.T) {
	rowtest.OptionMutants(t, []rowtest.Mutant{
		rowtest.MutantsOf[omega](&omegaRow)("grow: it never grows", func(o omega) nodes.Machine {
			o.grow = 0
			return &o
		}),
		rowtest.MutantsOf[omegaEfficient](&omegaEfficientRow)("grow: it never grows",
			func(o omegaEfficient) nodes.Machine {
				o.grow = 0
				return &o
			}),
	}, assembled)
}
