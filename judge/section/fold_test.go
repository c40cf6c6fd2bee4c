package section

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// held returns a visit whose client is told at some times that it has lost the lock.
func held(id nodes.ID, from, to int64, fence uint64, told ...int64) []history.Event {
	all := visit(id, from, to)
	all[1].Fence = fence
	for _, at := range told {
		all = append(all, happens(at, id, history.ToldLost))
	}
	return all
}

// refusal is a try that was made and refused.
func refusal(id nodes.ID, made, at int64) history.Event {
	e := happens(at, id, history.TryRefused)
	e.Value = made
	return e
}

func joined(all ...[]history.Event) (events []history.Event) {
	for _, some := range all {
		events = append(events, some...)
	}
	return inOrder(events)
}

func TestWhoWasToldInTime(t *testing.T) {
	const err = 10
	for name, test := range map[string]struct {
		events []history.Event
		late   bool // the client of node 0 was not told before another entered
		met    bool
	}{
		"alone":                   {held(0, 100, 500, 0), false, false},
		"alone and told":          {held(0, 100, 500, 0, 200), false, false},
		"never told":              {joined(held(0, 100, 500, 0), held(1, 300, 700, 0)), true, true},
		"told before":             {joined(held(0, 100, 500, 0, 200), held(1, 300, 700, 0)), false, true},
		"told after":              {joined(held(0, 100, 500, 0, 350), held(1, 300, 700, 0)), true, true},
		"told twice":              {joined(held(0, 100, 500, 0, 200, 350), held(1, 300, 700, 0)), false, true},
		"told at about that time": {joined(held(0, 100, 500, 0, 310), held(1, 300, 700, 0)), false, true},
		"it may have left before": {joined(held(0, 100, 310, 0), held(1, 300, 700, 0)), false, true},
		"between two others": {joined(held(0, 100, 900, 0, 450), held(1, 300, 400, 0),
			held(2, 500, 700, 0)), true, true},
		"for less than stamps err": {joined(held(0, 100, 500, 0), held(1, 300, 305, 0)), false, true},
		"it was the later":         {joined(held(0, 300, 900, 0), held(1, 100, 700, 0)), false, true},
		"one after the other":      {joined(held(0, 100, 300, 0, 200), held(1, 400, 700, 0)), false, false},
		"the other died before it": {joined(visit(1, 50, 99)[:2], []history.Event{happens(80, 1, history.Crashed)},
			held(0, 100, 300, 0)), false, false},
	} {
		_, all := folded(test.events, 1, err)
		for _, s := range all {
			if s.Node == 0 && (s.Late(err) != test.late || s.Met != test.met) {
				t.Errorf("%s: late %v, met %v", name, s.Late(err), s.Met)
			}
		}
	}
}

// A client that leaves because its lock was revoked counts as told at that time. A notice to a client without
// a lock or a request is an irregular event, unless its node was killed.
func TestWhatIsHeard(t *testing.T) {
	gone := visit(0, 100, 200)
	gone[2].Kind = history.Revoked
	if _, all := folded(gone, 1, 0); !all[0].Told || all[0].ToldAt != 200 {
		t.Errorf("%+v", all[0])
	}
	for says, events := range map[string][]history.Event{
		"lost what it does not hold": joined(held(0, 100, 200, 0, 300)),
		"refused without a request":  {refusal(0, 50, 60)},
		"": joined(held(0, 100, 200, 0)[:2], []history.Event{happens(150, 0, history.Killed),
			happens(160, 0, history.ToldLost), refusal(0, 150, 170), happens(180, 0, history.Crashed)}),
	} {
		f, _ := folded(events, 1, 0)
		got := strings.Join(f.Irregularities, "; ")
		if !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("%q: %q", says, got)
		}
	}
}

// A refused try counts as free if no client was inside at any moment of the try.
func TestRefusalsOfAFreeLock(t *testing.T) {
	const err = 10
	ask := []history.Event{request(50, 0, 1)}
	for name, test := range map[string]struct {
		events []history.Event
		free   uint64
	}{
		"nobody ever":               {joined(ask, []history.Event{refusal(0, 50, 60)}), 1},
		"one inside":                {joined(ask, held(1, 40, 90, 0), []history.Event{refusal(0, 50, 60)}), 0},
		"one that left meanwhile":   {joined(ask, held(1, 40, 55, 0), []history.Event{refusal(0, 50, 60)}), 0},
		"a visit meanwhile":         {joined(ask, held(1, 52, 55, 0), []history.Event{refusal(0, 50, 60)}), 0},
		"one that left before":      {joined(ask, held(1, 20, 30, 0), []history.Event{refusal(0, 50, 60)}), 1},
		"one that left just before": {joined(ask, held(1, 20, 41, 0), []history.Event{refusal(0, 50, 60)}), 0},
		"the second try": {joined(ask, held(1, 40, 55, 0), []history.Event{refusal(0, 50, 60),
			refusal(0, 70, 80)}), 1},
		"itself just before": {joined(held(0, 20, 49, 0), ask, []history.Event{refusal(0, 50, 60)}), 1},
		"itself, and another": {joined(held(1, 10, 45, 0), held(0, 20, 49, 0), ask,
			[]history.Event{refusal(0, 50, 60)}), 0},
		"itself, and another long ago": {joined(held(1, 10, 15, 0), held(0, 20, 49, 0), ask,
			[]history.Event{refusal(0, 50, 60)}), 1},
	} {
		f, _ := folded(test.events, 1, err)
		if r := f.Resources[0]; r.FreeTries != test.free || r.Tries == 0 {
			t.Errorf("%s: %d of %d tries, %v", name, r.FreeTries, r.Tries, f.Irregularities)
		}
	}
}

// A resource that demands fence numbers keeps entries apart that have different numbers.
func TestWhatFencesDoNotKeepApart(t *testing.T) {
	const err = 10
	a := func() []history.Event { return held(0, 100, 500, 5) }
	b := func() []history.Event { return held(1, 300, 700, 5) }
	c := func() []history.Event { return held(2, 600, 900, 6) }
	dies := func(e []history.Event) []history.Event { e[2].Kind = history.Crashed; return e }
	leaves := func(e []history.Event) []history.Event { e[2].Kind = history.Revoked; return e }
	refused := func(e []history.Event) []history.Event { e[2].Count = 1; return e }
	for name, test := range map[string]struct {
		events         []history.Event
		demands, asked bool
		sure, maybe    uint64
	}{
		"the later has more":       {joined(a(), held(1, 300, 700, 6)), false, false, 0, 0},
		"the later has less":       {joined(a(), held(1, 300, 700, 4)), false, false, 0, 0},
		"the same":                 {joined(a(), b()), false, false, 2, 0},
		"no numbers":               {joined(held(0, 100, 500, 0), held(1, 300, 700, 0)), false, false, 0, 0},
		"the same, not together":   {joined(held(0, 100, 200, 5), b()), false, false, 0, 0},
		"perhaps together":         {joined(held(0, 100, 305, 5), b()), false, false, 0, 2},
		"one of them is passed":    {joined(a(), b(), c()), false, false, 1, 1},
		"it was passed before":     {joined(held(2, 50, 90, 6), a(), b()), false, false, 0, 2},
		"one writes nothing":       {joined(a(), leaves(b())), false, false, 1, 0},
		"one dies":                 {joined(a(), dies(b())), false, false, 1, 1},
		"a process, asked":         {joined(a(), b()), false, true, 0, 2},
		"a process that demands":   {joined(a(), b()), true, true, 2, 0},
		"one refused":              {joined(refused(a()), b()), true, false, 1, 0},
		"passed, and yet accepted": {joined(a(), b(), c()), true, false, 2, 0},
	} {
		f := New(err, nil)
		f.Demands, f.Asked = test.demands, test.asked
		for _, e := range test.events {
			f.Add(e)
		}
		f.Close(nil)
		if r := f.Resources[0]; r.Unguarded != test.sure || r.MaybeUnguarded != test.maybe {
			t.Errorf("%s: %d and perhaps %d", name, r.Unguarded, r.MaybeUnguarded)
		}
	}
}
