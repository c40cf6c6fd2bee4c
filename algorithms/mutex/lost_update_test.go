package mutex

import (
	"maps"
	"math/bits"
	"slices"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
)

// What exclusion is for: two processes each read an account, add to what they read and store it. Of the 20
// orders of their six steps two give the sum; in nine the money of the first is lost, in nine that of the
// second.
func TestUpdatesAreLostWithoutExclusion(t *testing.T) {
	const first, second = 10, 20
	outcomes := map[int]int{}
	for order := range uint(1 << 6) { // a bit for each step: whose it is
		if bits.OnesCount(order) != 3 {
			continue
		}
		account, register, at := 0, [2]int{}, [2]int{}
		for step := range 6 {
			who := int(order >> step & 1)
			switch at[who] {
			case 0:
				register[who] = account
			case 1:
				register[who] += [2]int{first, second}[who]
			case 2:
				account = register[who]
			}
			at[who]++
		}
		outcomes[account]++
	}
	if !maps.Equal(outcomes, map[int]int{first + second: 2, first: 9, second: 9}) {
		t.Errorf("the account ends so often at: %v", outcomes)
	}
	if ends := endsOfAccount(t, 1, []int{first, second}, first+second+1); !slices.Equal(ends,
		[]int{first, second, first + second}) {
		t.Errorf("two processes that update it by messages can leave it at %v", ends)
	}
}

// Two processes each add 1 to an account of a server n times. It can end at any value from 2 to 2n, and at no
// other.
func TestLostUpdatesEndAnywhereFromTwo(t *testing.T) {
	for n, want := range [][]int{1: {1, 2}, 2: {2, 3, 4}, 3: {2, 3, 4, 5, 6}} {
		if n == 0 {
			continue
		}
		if ends := endsOfAccount(t, n, []int{1, 1}, 2*n+1); !slices.Equal(ends, want) {
			t.Errorf("after %d updates each, the account can hold %v, want %v", n, ends, want)
		}
	}
}

// endsOfAccount explores everything that can happen when processes update an account so often each, by an
// amount of their own, without exclusion. It returns at which values up to most the account can end.
func endsOfAccount(t *testing.T, updates int, amounts []int, most int) (ends []int) {
	t.Helper()
	for value := range most + 1 {
		algo := &algorithm.Algorithm{Spec: nodes.Spec{
			Name:    "unlocked-account",
			New:     func(nodes.Config) nodes.Machine { return &depositor{left: updates, amounts: amounts} },
			Servers: func(nodes.Config) int { return 1 },
			NewServer: func(nodes.Config, nodes.ID) nodes.Machine {
				return &account{left: updates * len(amounts), watched: value}
			},
			Messages: []nodes.MessageKind{{Zero: accountRead{}}, {Zero: accountHolds{}}, {Zero: accountStore{}},
				{Zero: accountStored{}}},
		}}
		x, err := explore.Run(explore.Space{Spec: algo, Config: nodes.Config{N: len(amounts)}, Entries: 1,
			Checks: []string{replay.CheckPanic}})
		switch {
		case err != nil:
			t.Fatal(err)
		case x.Violation != nil:
			ends = append(ends, value)
		case !x.Exhausted:
			t.Fatalf("the exploration is bounded by %s", x.Bound)
		}
	}
	return ends
}

// A depositor updates the account of the server, by its amount, as often as is left, and then enters.
type depositor struct {
	left    int
	amounts []int // by node
}

// An account is a server. It panics when the last update leaves it at the value that is watched for.
type account struct{ holds, left, watched int }

type (
	accountRead   struct{}
	accountHolds  struct{ Value int }
	accountStore  struct{ Value int }
	accountStored struct{}
)

func (d *depositor) Request(env *nodes.Env) { env.Send(nodes.ID(env.N()), accountRead{}) }
func (d *depositor) Release(*nodes.Env)     {}

func (d *depositor) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case accountHolds:
		env.Send(from, accountStore{m.Value + d.amounts[env.Self()]})
	case accountStored:
		if d.left--; d.left == 0 {
			env.Grant()
		} else {
			env.Send(from, accountRead{})
		}
	default:
		nodes.Unexpected(d, m)
	}
}

func (a *account) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case accountRead:
		env.Send(from, accountHolds{a.holds})
	case accountStore:
		a.holds = m.Value
		if a.left--; a.left == 0 && a.holds == a.watched {
			panic("the account ends at the value that is watched for")
		}
		env.Send(from, accountStored{})
	default:
		nodes.Unexpected(a, m)
	}
}
