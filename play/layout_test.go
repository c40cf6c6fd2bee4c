package play

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// In simulated runs of every algorithm, with each value of its options, each message goes along a link of its
// layout, and each link has messages.
func TestMessagesGoAlongLinks(t *testing.T) {
	for _, a := range table.Algorithms() {
		for _, c := range configsOf(a, 3, 5, 16) {
			name := strings.Join(append([]string{a.Name, fmt.Sprint(c.N)}, c.Given()...), " ")
			l := layoutOf(stackOf(t, a, c))
			total := nodes.ID(c.N + a.ServerCount(c))
			for _, link := range l.Links {
				if link[0] < 0 || link[0] >= link[1] || link[1] >= total {
					t.Errorf("%s: a link joins %v", name, link)
				}
			}
			used := linksOf(t, stackOf(t, a, c))
			if len(l.Links) == 0 {
				continue
			}
			for link := range used {
				if !slices.Contains(l.Links, link) {
					t.Errorf("%s: a message goes between %v, where no link is", name, link)
				}
			}
			for _, link := range l.Links {
				if !used[link] {
					t.Errorf("%s: no message goes along the link %v", name, link)
				}
			}
		}
	}
}

// configsOf returns configurations of these numbers of nodes that an algorithm takes, with each value of each
// option.
func configsOf(a *algorithm.Algorithm, sizes ...int) (all []nodes.Config) {
	for _, n := range sizes {
		configs := []nodes.Config{{N: n}}
		for _, o := range a.Options {
			for _, value := range o.Values {
				if value != o.Default {
					configs = append(configs, nodes.Config{N: n}.With(o.Name, value))
				}
			}
		}
		all = append(all, slices.DeleteFunc(configs, func(c nodes.Config) bool { return a.Validate(c) != nil })...)
	}
	return all
}

// stackOf returns the stack of an algorithm alone.
func stackOf(t *testing.T, a *algorithm.Algorithm, c nodes.Config) *algorithm.Stack {
	t.Helper()
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: a, Config: a.Explicit(c)})
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// linksOf returns between which nodes messages are sent in a simulated run without faults.
func linksOf(t *testing.T, stack *algorithm.Stack) map[[2]nodes.ID]bool {
	t.Helper()
	used := map[[2]nodes.ID]bool{}
	o := sim.Options{Stack: stack, Seed: 1, Latency: time.Millisecond, Entries: uint64(20 * stack.N()),
		Trace: true, Workload: workload.Workload{Load: workload.Saturated}}
	o.Messages = func(m history.MessageRecord) {
		if m.Sent {
			used[[2]nodes.ID{min(m.Node, m.Peer), max(m.Node, m.Peer)}] = true
		}
	}
	if stack.Elects() {
		o.Workload.Load, o.Entries, o.Duration = workload.Campaign, 0, time.Second
	}
	if _, err := sim.Run(o); err != nil {
		t.Fatal(err)
	}
	return used
}

// The shapes of layouts, as textbooks draw these algorithms.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		algorithm, option, value string
		n                        int
		shape                    string
		links                    int
	}{
		{"raymond", "", "", 7, shapeTree, 6},
		{"raymond", "tree", "line", 7, shapeTree, 6},
		{"token-ring", "", "", 5, shapeRing, 5},
		{"token-ring", "order", "0,1,3,2", 4, shapeRing, 4},
		{"chang-roberts", "", "", 16, shapeRing, 16},
		{"itai-rodeh", "", "", 5, shapeRing, 5},
		{"ring-list", "announce", "multicast", 5, shapeAll, 0},
		{"maekawa", "quorums", "grid", 4, shapeGrid, 4},
		{"maekawa", "quorums", "grid", 16, shapeGrid, 48},
		{"grid-quorum", "", "", 6, shapeGrid, 9},
		{"grid-quorum", "", "", 5, shapeAll, 0},
		{"maekawa", "", "", 7, shapeAll, 14},
		{"central", "", "", 5, shapeStar, 5},
		{"central-inside", "", "", 5, shapeStar, 4},
		{"central", "delivery", "told", 5, shapeStar, 0},
		{"peterson", "", "", 2, shapeStar, 6},
		{"bully-shared-disk", "", "", 3, shapeStar, 0},
		{"ricart-agrawala", "", "", 5, shapeAll, 0},
		{"token-ring", "", "", 1, shapeTree, 0},
	} {
		a, err := table.Find(c.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		config := nodes.Config{N: c.n}
		if c.option != "" {
			config = config.With(c.option, c.value)
		}
		if l := layoutOf(stackOf(t, a, config)); l.Shape != c.shape || len(l.Links) != c.links {
			t.Errorf("%+v has the layout %v", c, l)
		}
	}
}
