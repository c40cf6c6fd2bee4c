package check

import (
	"container/heap"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
)

// A turn orders requests if the client with fewest requests comes first: by the number of the request at its
// client, and then by the ID of the client.
type turn struct {
	entry uint32
	node  nodes.ID
}

func (r turn) before(s turn) bool { return r.entry < s.entry || r.entry == s.entry && r.node < s.node }

// ranks is a heap of turns.
type ranks []turn

func (r ranks) Len() int           { return len(r) }
func (r ranks) Less(i, j int) bool { return r[i].before(r[j]) }
func (r ranks) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ranks) Push(x any)        { *r = append(*r, x.(turn)) }
func (r *ranks) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// A rankFold finds entries that passed over a request which had priority and was known to all.
type rankFold struct {
	within  int64 // time until a request is known
	asked   []section.Section
	waiting map[nodes.ID]uint32 // the open request of a client that waits
	known   ranks               // known requests, and some that are over

	judged        uint64
	first, passed *section.Section // the first passed-over request, and the entry that passed over it; or nil
}

func newRankFold(within time.Duration) *rankFold {
	return &rankFold{within: int64(within), waiting: map[nodes.ID]uint32{}}
}

func (f *rankFold) ask(s *section.Section) {
	f.asked, f.waiting[s.Node] = append(f.asked, *s), s.Entry
}

func (f *rankFold) enter(s *section.Section) {
	for len(f.asked) > 0 && f.asked[0].Asked+f.within < s.Entered {
		heap.Push(&f.known, turn{f.asked[0].Entry, f.asked[0].Node})
		f.asked = f.asked[1:]
	}
	delete(f.waiting, s.Node)
	for len(f.known) > 0 && f.waiting[f.known[0].node] != f.known[0].entry {
		heap.Pop(&f.known)
	}
	if len(f.known) > 0 { // another client waits
		f.judged++
		if first := f.known[0]; first.before(turn{s.Entry, s.Node}) && f.first == nil {
			entered := *s
			f.first, f.passed = &section.Section{Node: first.node, Entry: first.entry}, &entered
		}
	}
}

// prioritized reports whether the client with fewest requests comes first in the run, and the time at which a
// request is known to all is certain.
func prioritized(e *evidence) bool {
	return e.ranked != nil && e.Bounded && !e.Real && !e.faulty() && len(e.sections.Faults) == 0
}

// priority: no client enters before a waiting one that has made fewer requests, once its request is known to
// all.
func priority(e *evidence) Finding {
	if f := e.ranked; f.first != nil {
		return violated("%s made its entry %d, although request %d of %s had priority and was known to all",
			name(f.passed.Node), f.passed.Entry, f.first.Entry, name(f.first.Node))
	}
	return valid("%s made while others waited, each by the client with fewest requests",
		english.Count(e.ranked.judged, "entry was", "entries were"))
}
