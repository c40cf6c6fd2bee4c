package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/nodes"
)

// takenOut stands for a death in the list of questions.
const takenOut = 99

// A bookStep is a question, its answer, and what the register shows then.
type bookStep struct {
	question
	verdict        uint8
	value, account int64
	taken          int64
}

func ask(node, number int, do uint8, more ...func(*question)) question {
	q := question{Do: do, Node: nodes.ID(node), Number: uint64(number), Units: 1, At: int64(1000 * number)}
	for _, change := range more {
		change(&q)
	}
	return q
}

func under(fence uint64) func(*question) {
	return func(q *question) { q.Fenced, q.Fence = true, fence }
}

func writes(account int64) func(*question) { return func(q *question) { q.Account = account } }

func life(incarnation uint32) func(*question) {
	return func(q *question) { q.Incarnation = incarnation }
}

func dies(incarnation uint32) question { // node 1
	return question{Do: takenOut, Incarnation: incarnation}
}

// The books answer one question after the other.
func TestBooks(t *testing.T) {
	for name, steps := range map[string][]bookStep{
		"one after the other": {
			{ask(0, 1, enterResource), granted, 1, 0, 1}, {ask(0, 2, writeAccount, writes(1)), granted, 0, 1, 1},
			{ask(0, 3, leaveResource), granted, 0, 0, 0}, {ask(1, 1, enterResource), granted, 1, 1, 1},
		},
		"two at a time lose money": {
			{ask(0, 1, enterResource), granted, 1, 0, 1}, {ask(1, 1, enterResource), granted, 2, 0, 2},
			{ask(0, 2, writeAccount, writes(1)), granted, 0, 1, 2}, {ask(0, 3, leaveResource), granted, 0, 0, 1},
			{ask(1, 2, writeAccount, writes(1)), granted, 0, 1, 1},
		},
		"words are swapped once, by a client inside": {
			{ask(0, 1, swapWord, writes(7)), senseless, 0, 0, 0}, {ask(0, 2, enterResource), granted, 1, 0, 1},
			{ask(0, 3, swapWord, writes(7)), granted, 0, 0, 1}, {ask(0, 3, swapWord, writes(7)), granted, 0, 0, 1},
			{ask(0, 4, swapWord, writes(8)), granted, 7, 0, 1},
			{ask(0, 5, swapWord, func(q *question) { q.Word = 4 }), granted, 0, 0, 1},
			{ask(0, 6, swapWord, func(q *question) { q.Word = 5 }), senseless, 0, 0, 1},
		},
		"a lower fence number is refused": {
			{ask(0, 1, enterResource, under(3)), granted, 1, 0, 1},
			{ask(1, 1, enterResource, under(4)), granted, 2, 0, 2},
			{ask(0, 2, writeAccount, under(3), writes(1)), refusing, 0, 0, 2},
			{ask(1, 2, writeAccount, under(4), writes(1)), granted, 0, 1, 2},
		},
		"what comes again changes nothing": {
			{ask(0, 1, enterResource), granted, 1, 0, 1}, {ask(0, 1, enterResource), granted, 1, 0, 1},
			{ask(0, 2, drawTicket), granted, 1, 0, 1}, {ask(0, 2, drawTicket), granted, 1, 0, 1},
			{ask(0, 3, leaveResource), granted, 0, 0, 0}, {ask(0, 3, leaveResource), granted, 0, 0, 0},
		},
		"the dead are counted out, and refused": {
			{ask(1, 1, enterResource), granted, 1, 0, 1}, {dies(0), 0, 0, 0, 0},
			{ask(1, 2, writeAccount, writes(1)), tooLate, 0, 0, 0}, {ask(1, 1, enterResource), tooLate, 0, 0, 0},
			{ask(1, 1, enterResource, life(1)), granted, 1, 0, 1}, {dies(1), 0, 0, 0, 0},
			{ask(1, 2, leaveResource, life(1)), tooLate, 0, 0, 0},
			{ask(1, 1, leaveResource, life(2)), senseless, 0, 0, 0},
		},
		"nonsense changes nothing": {
			{ask(0, 1, leaveResource), senseless, 0, 0, 0}, {ask(0, 2, writeAccount), senseless, 0, 0, 0},
			{ask(0, 3, enterResource), granted, 1, 0, 1}, {ask(0, 4, enterResource), senseless, 0, 0, 1},
			{ask(7, 1, enterResource), senseless, 0, 0, 1}, {ask(0, 5, 42), senseless, 0, 0, 1},
			{ask(0, 6, leaveResource, func(q *question) { q.Resource = 1 }), senseless, 0, 0, 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBooks(Share{Run: "test", Nodes: 2, Capacities: []int{1}})
			for i, s := range steps {
				if s.Do == takenOut {
					if err := b.TakeOut(1, s.Incarnation); err != nil {
						t.Fatal(err)
					}
				} else {
					want := answer{Number: s.Number, Verdict: s.verdict, Value: s.value, Account: s.account}
					if diff := cmp.Diff(want, b.answer(&s.question)); diff != "" {
						t.Errorf("%d: %s", i, diff)
					}
				}
				if taken := b.resources[0].taken; taken != s.taken {
					t.Errorf("%d: the register shows %d, not %d", i, taken, s.taken)
				}
			}
		})
	}
}

// Of a run that ends by entries, the books know when the last request was allowed, and when the latest
// section ended; and of any run, when somebody first left while too many were inside.
func TestBooksKeepTimes(t *testing.T) {
	b := NewBooks(Share{Run: "test", Nodes: 3, Capacities: []int{1}, Entries: 2})
	for i, q := range []question{
		{Do: drawTicket, Node: 0, At: 10}, {Do: drawTicket, Node: 1, At: 20}, {Do: drawTicket, Node: 2, At: 30},
		{Do: enterResource, Node: 0, Units: 1}, {Do: enterResource, Node: 1, Units: 1},
		{Do: leaveResource, Node: 1, At: 60}, {Do: leaveResource, Node: 0, At: 50},
	} {
		q.Number = uint64(i + 1)
		if got := b.answer(&q); got.Verdict != granted {
			t.Fatalf("%d: %+v", i, got)
		}
	}
	want := Tickets{Issued: 3, StoppedAt: 20, LeftAt: 60}
	if got, frozen := b.Tickets(), b.frozenAt(); got != want || frozen != 60 {
		t.Errorf("%+v, and too many were inside at %d", got, frozen)
	}
}
