package mutex

import (
	"cmp"
	"fmt"
	"testing"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// There is one token: at a node or on its way, never at both and never twice.
func TestTokenCensus(t *testing.T) {
	for _, algo := range Table {
		if algo.Family != "token" {
			continue
		}
		if fault := tokenFault(t, algo, 1); fault != "" {
			t.Errorf("%s: %s", algo.Name, fault)
		}
	}
}

// tokenFault runs an algorithm. If the number of tokens is ever not one, it says what the number was.
func tokenFault(t *testing.T, algo *algorithm.Algorithm, seed uint64) (fault string) {
	holders, flying := 0, 1 // a token that is not made yet counts as on its way
	spec := *algo
	spec.Live &^= nodes.NoDuplication // that concerns requests: copies of a token do no harm
	cut := runWatched(t, &spec, 5, seed, func(m nodes.Machine, _ nodes.Message, handle func()) {
		holder, ok := m.(nodes.TokenHolder)
		if !ok {
			t.Fatalf("%s: %T does not tell whether it has the token", algo.Name, m)
		}
		before := holder.HasToken()
		handle()
		switch after := holder.HasToken(); {
		case after && !before:
			holders, flying = holders+1, flying-1
		case before && !after:
			holders, flying = holders-1, flying+1
		}
		if flying < 0 || holders+flying != 1 {
			fault = cmp.Or(fault, fmt.Sprintf("%d tokens at nodes, %d on their way", holders, flying))
		}
	})
	if cut != nil {
		fault = cmp.Or(fault, cut.Error())
	}
	return fault
}

// A node panics if it receives a message that its algorithm does not have.
func TestUnexpectedMessagesPanic(t *testing.T) {
	type xxAlien struct{}
	for _, algo := range Table {
		c := nodes.Config{N: 3}
		for id := range nodes.ID(c.N + algo.ServerCount(c)) {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: node %d takes an alien message", algo.Name, id)
					}
				}()
				algotest.Node(algo, c.N, id).Handle(nodes.Input{Kind: nodes.Receive, From: 1, Message: xxAlien{}})
			}()
		}
	}
}
