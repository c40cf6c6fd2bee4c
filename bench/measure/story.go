package measure

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/results"
)

// story follows every client through its requests, and every resource through its clients.
type story struct {
	m       *Measures
	slack   int64 // the error of comparing stamps
	clients map[clientKey]*client
	places  map[uint16]*place  // by instance
	down    map[nodes.ID]int64 // since when a node is, that crashed and has not come up

	entriesInWindow uint64
	issued, due     uint64 // arrivals due in the window, and those of them that became requests
}

type clientKey struct {
	node     nodes.ID
	instance uint16
}

// A client has at most one request at a time.
type client struct {
	place           *place
	phase           phase
	due             int64
	asked           int64
	entered         int64
	number          int  // of its request, among all for the place
	alone           bool // nobody held or waited when it asked
	entriesInWindow uint64
}

type phase uint8

const (
	idle phase = iota
	waiting
	inside
)

func newStory(m *Measures, slack int64) *story {
	return &story{m: m, slack: slack, clients: map[clientKey]*client{}, places: map[uint16]*place{},
		down: map[nodes.ID]int64{}}
}

func (s *story) client(e history.Event) *client {
	key := clientKey{e.Node, e.Instance}
	c, ok := s.clients[key]
	if !ok {
		p := s.places[e.Instance]
		if p == nil {
			p = &place{window: s.m.Window, slack: s.slack, syncDelay: &s.m.SynchronizationDelay}
			s.places[e.Instance] = p
		}
		c = &client{place: p}
		s.clients[key] = c
	}
	return c
}

// Add implements history.Fold.
func (s *story) Add(e history.Event) {
	switch e.Kind {
	case history.Requested:
		c := s.client(e)
		s.giveUp(c, e.At) // there is nothing to, unless the log is wrong
		s.ask(c, e)
	case history.Entered:
		s.enter(s.client(e), e.At)
	case history.Exited:
		s.exit(s.client(e), e.At)
	case history.Unissued:
		s.unissued(e)
	case history.Crashed:
		s.crash(e)
	case history.Restarted:
		delete(s.down, e.Node)
	}
}

// crash ends what the clients of a node were about.
func (s *story) crash(e history.Event) {
	s.down[e.Node] = e.At
	for key, c := range s.clients {
		if key.node == e.Node {
			s.giveUp(c, e.At)
		}
	}
}

// unissued counts an arrival that nobody will ask for any more. While its node was down there was no client
// that it could have been due at; one that waited for its turn when the node crashed did so until then.
func (s *story) unissued(e history.Event) {
	end := s.m.Ended
	if since, down := s.down[e.Node]; down {
		if end = since; e.Value >= since {
			return
		}
	}
	s.client(e)
	s.m.Unissued++
	if s.m.Window.Has(e.Value) {
		s.due++
		s.m.Wait.AddOpen(end - e.Value)
		s.m.Queue.AddOpen(end - e.Value)
	}
}

func (s *story) ask(c *client, e history.Event) {
	c.phase, c.due, c.asked = waiting, e.Value, e.At
	c.number, c.alone = c.place.ask()
	if s.m.Window.Has(c.due) {
		s.due++
		s.issued++
		s.m.Queue.Add(c.asked - c.due)
	}
}

func (s *story) enter(c *client, at int64) {
	s.m.Entries++
	if s.m.Window.Has(at) {
		s.entriesInWindow++
		c.entriesInWindow++
	}
	if c.phase == inside { // granted twice; the checks make something of it, the measures do not
		return
	}
	if c.phase == waiting {
		if s.m.Window.Has(c.due) {
			s.m.Wait.Add(at - c.due)
			s.m.Protocol.Add(at - c.asked)
			if c.alone {
				s.m.Uncontended.Add(at - c.asked)
			}
		}
		c.place.serve(c.number, c.asked, at)
	}
	c.place.enter(at)
	c.phase, c.entered = inside, at
}

func (s *story) exit(c *client, at int64) {
	if c.phase != inside {
		return
	}
	if s.m.Window.Has(c.entered) {
		s.m.Hold.Add(at - c.entered)
	}
	c.place.exit(at)
	c.phase = idle
}

// giveUp ends what a client was about at the time at, unfinished.
func (s *story) giveUp(c *client, at int64) {
	switch c.phase {
	case waiting:
		s.m.Unfinished++
		if s.m.Window.Has(c.due) {
			s.m.Wait.AddOpen(at - c.due)
			s.m.Protocol.AddOpen(at - c.asked)
			if c.alone {
				s.m.Uncontended.AddOpen(at - c.asked)
			}
		}
		c.place.abandon(c.number)
	case inside:
		if s.m.Window.Has(c.entered) {
			s.m.Hold.AddOpen(at - c.entered)
		}
		c.place.exit(at)
		c.place.freed = false // nobody handed over anything
	}
	c.phase = idle
}

// Close implements history.Fold.
func (s *story) Close() {
	for _, c := range s.clients {
		s.giveUp(c, s.m.Ended)
	}
	s.share()
	s.contend()
	if s.m.Window.Known() {
		s.m.EntriesInWindow = results.Count(s.entriesInWindow)
		s.m.EntriesPerS = results.Ratio(float64(s.entriesInWindow), float64(s.m.Window.Length())/1e9)
		s.m.IssuedShare = results.Ratio(float64(s.issued), float64(s.due))
	}
}

// share says how the entries in the window were shared out among the clients that wanted any.
func (s *story) share() {
	if !s.m.Window.Known() || len(s.clients) == 0 {
		return
	}
	var sum, squares float64
	first := true
	var least, most uint64
	for _, c := range s.clients {
		n := c.entriesInWindow
		if first {
			least, most, first = n, n, false
		}
		least, most = min(least, n), max(most, n)
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	s.m.Jain = results.Ratio(sum*sum, float64(len(s.clients))*squares)
	s.m.EntriesNodeMin, s.m.EntriesNodeMax = results.Count(least), results.Count(most)
}

// contend says how the places were contended for.
func (s *story) contend() {
	if len(s.places) == 0 {
		return
	}
	var busy, overlap int64
	var requests, overtaken, most uint64
	bound := false
	for _, p := range s.places {
		busy += p.busy
		overlap += p.overlap
		requests += uint64(p.served.size())
		overtaken += p.overtaken
		bound = bound || p.abandoned
		most = max(most, p.overtakenMost)
	}
	s.m.OverlapUS = results.Number(float64(overlap) / 1e3)
	if s.m.Window.Known() {
		s.m.Utilisation = results.Ratio(float64(busy), float64(s.m.Window.Length())*float64(len(s.places)))
	}
	if requests == 0 {
		return
	}
	s.m.OvertakenMax = boundIf(bound, float64(most))
	s.m.OvertakenMean = boundIf(bound, float64(overtaken)/float64(requests))
}

func boundIf(bound bool, x float64) results.Figure {
	if bound {
		return results.AtLeast(x)
	}
	return results.Number(x)
}
