package main

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/nodes"
)

// The text of inject says what a fault hit: nodes, brokers, servers or messages.
func TestProgressWords(t *testing.T) {
	for want, p := range map[string]chaos.Progress{
		"to come":                           {},
		"to come, hits node 2":              {Nodes: []nodes.ID{2}},
		"to come, of broker 0-1":            {Brokers: []nodes.ID{0, 1}},
		"in force since 1s, hit server 0,2": {Began: new(time.Second), Servers: []int{0, 2}},
		"in force since 1s, hit nodes 0-1, hit server 2": {Began: new(time.Second), Nodes: []nodes.ID{0, 1},
			Servers: []int{2}},
		"in force since 1s, hit 3 messages": {Began: new(time.Second), Hits: 3},
	} {
		p.State = "to come"
		if p.Began != nil {
			p.State = "in force"
		}
		if got := progressWords(&p); got != want {
			t.Errorf("it says %q, not %q", got, want)
		}
	}
}
