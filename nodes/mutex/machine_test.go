package mutex

import (
	"testing"

	"turnstile/nodes"
)

// A node that comes up again after a crash makes no second token.
func TestTokenIsMadeOnce(t *testing.T) {
	for _, row := range Table {
		if row.Family != "token" {
			continue
		}
		k := newCluster(row, nodes.Config{N: 2}, options{})
		if err := k.restart(0); err != nil {
			t.Fatal(err)
		}
		if k.nodes[0].Machine(0).(nodes.TokenHolder).HasToken() || len(k.flying) > 0 {
			t.Errorf("%s: node 0 has a token again", row.Name)
		}
	}
}

// There is one token: at a node or on its way, never at both and never twice.
func TestTokenCensus(t *testing.T) {
	for _, row := range Table {
		if row.Family != "token" {
			continue
		}
		k := newCluster(row, nodes.Config{N: 5}, options{load: sporadic, entries: 50, reorder: true})
		if err := k.start(); err != nil {
			t.Fatal(err)
		}
		k.inspect = func() {
			census := 0
			for _, node := range k.nodes {
				if node.Machine(0).(nodes.TokenHolder).HasToken() {
					census++
				}
			}
			for _, p := range k.flying {
				if row.Messages[k.codec.KindOf(p.message)].Token {
					census++
				}
			}
			if census != 1 {
				t.Errorf("%s: %d tokens", row.Name, census)
			}
		}
		for range 2000 {
			if err := k.ask(); err != nil {
				t.Fatal(err)
			}
			if err := k.step(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The paper lets request n+1 be served though request n was lost (RN > LN, where RN = LN+1 would
// leave its node waiting for ever).
func TestSuzukiKasamiServesAfterALostRequest(t *testing.T) {
	row, err := Find("sk")
	if err != nil {
		t.Fatal(err)
	}
	k := newCluster(row, nodes.Config{N: 2}, options{})
	if err := k.start(); err != nil {
		t.Fatal(err)
	}
	if err := k.receive(packet{from: 1, to: 0, message: suzukiRequest{2}}); err != nil {
		t.Fatal(err)
	}
	if k.held("0>1", "token") < 0 {
		t.Error("the token stays")
	}
}

// Who waits for whom, as a stall is explained by it.
func TestWaitsForAndLentTo(t *testing.T) {
	for _, test := range []struct {
		row    string
		n      int
		script string
		node   nodes.ID
		waits  nodes.Set
		lender nodes.ID // None: no node lends
		lent   nodes.ID
	}{
		{"central", 2, "req 0; 0>2 request; 2>0 grant; req 1; 1>2 request", 1, nodes.SetOf(2), 2, 0},
		{"central", 2, "req 0; 0>2 request; 2>0 grant", 0, nodes.Set{}, 2, 0},
		{"central", 2, "", 0, nodes.Set{}, 2, nodes.None},
		{"central-inside", 2, "req 0; req 1; 1>0 request", 1, nodes.SetOf(0), 0, 0},
		{"lamport", 3, "req 0; 0>1 request; 0>2 request; 2>0 ack; req 1", 0,
			nodes.SetOf(1), nodes.None, 0},
		{"lamport", 3, "req 0; req 1; 0>1 request; 1>0 request; 1>2 request; 0>1 ack; 2>1 ack", 1,
			nodes.SetOf(0), nodes.None, 0},
		{"lamport", 2, "req 0; 0>1 request; 1>0 ack", 0, nodes.Set{}, nodes.None, 0},
		{"ra", 3, "req 0; 0>2 request; 2>0 reply", 0, nodes.SetOf(1), nodes.None, 0},
		{"ra", 3, "", 0, nodes.Set{}, nodes.None, 0},
		{"naive", 3, "req 0; 0>2 request; 2>0 reply", 0, nodes.SetOf(1), nodes.None, 0},
		{"maekawa", 7, "req 0; 0>1 request; 1>0 locked", 0, nodes.SetOf(3), 1, 0}, // it asks 0, 1 and 3
		{"maekawa", 7, "", 0, nodes.Set{}, 1, nodes.None},
		{"raymond", 4, "req 3; 3>1 request", 3, nodes.SetOf(1), nodes.None, 0},
		{"raymond", 4, "req 0", 0, nodes.Set{}, nodes.None, 0},
	} {
		row, err := Find(test.row)
		if err != nil {
			t.Fatal(err)
		}
		k := newCluster(row, nodes.Config{N: test.n}, options{})
		if err := k.start(); err != nil {
			t.Fatal(err)
		}
		if err := play(k, test.script); err != nil {
			t.Errorf("%s: %s: %v", test.row, test.script, err)
			continue
		}
		waits := k.nodes[test.node].Machine(0).(nodes.Waiter).WaitsFor()
		if waits.String() != test.waits.String() {
			t.Errorf("%s: %s: node %d waits for %v, want %v", test.row, test.script, test.node, waits, test.waits)
		}
		if test.lender == nodes.None {
			continue
		}
		if lent := k.nodes[test.lender].Machine(0).(nodes.Lender).LentTo(); lent != test.lent {
			t.Errorf("%s: %s: node %d lends to %d, want %d", test.row, test.script, test.lender, lent, test.lent)
		}
	}
}

// The core says so when a machine is sent what is not for it.
func TestUnexpectedMessagesPanic(t *testing.T) {
	type xxAlien struct{}
	for _, row := range Table {
		c := nodes.Config{N: 3}
		for id := range nodes.ID(c.N + row.ServerCount(c)) {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: node %d takes an alien message", row.Name, id)
					}
				}()
				stack, err := nodes.NewStack(nodes.Instance{Spec: row, Config: c})
				if err != nil {
					t.Error(err)
				}
				nodes.NewNode(stack, id, 0, nil).Handle(nodes.Input{Kind: nodes.Receive, From: 1, Message: xxAlien{}})
			}()
		}
	}
}
