package election

import (
	"testing"

	"turnstile/algorithms/detector"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// assembled returns the stack of an algorithm beside its failure detector.
func assembled(of *algorithm.Algorithm, c nodes.Config) *algorithm.Stack {
	if of.Detects == "" {
		return algotest.StackOf(of, c)
	}
	in, err := detector.Parse(of.Detects, c.N, nodes.Delays{})
	if err != nil {
		panic(err) // an algorithm names a wrong detector
	}
	return algotest.StackOf(of, c, in)
}

// Each figure holds that an algorithm states about a value of its options.
func TestOptionsDoWhatTheirAlgorithmsSay(t *testing.T) { algotest.Options(t, Table, assembled) }

// The patience with a node never grows.
func TestOptionMutantsAreCaught(t *testing.T) {
	algotest.OptionMutants(t, []algotest.Mutant{
		algotest.MutantsOf[omega](&omegaAlgorithm)("grow: it never grows", func(o omega) nodes.Machine {
			o.grow = 0
			return &o
		}),
		algotest.MutantsOf[omegaEfficient](&omegaEfficientAlgorithm)("grow: it never grows",
			func(o omegaEfficient) nodes.Machine {
				o.grow = 0
				return &o
			}),
	}, assembled)
}
