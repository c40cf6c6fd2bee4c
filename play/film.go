package play

import (
	"cmp"
	"fmt"
	"slices"

	"turnstile/algorithms/catalog"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// A Film is a recorded run that can be watched step by step: its messages and events, without the states of
// machines. As JSON it is what orchestrator play gives the page.
type Film struct {
	Format  string         `json:"format"` // filmFormat
	Title   string         `json:"title"`
	Parts   []catalog.Part `json:"parts"` // the instances of every node
	Verdict Verdict        `json:"verdict"`
	Faults  []string       `json:"faults"` // what each did, by number from 1
	Events  []FilmEvent    `json:"events"` // in the order of time
}

// filmFormat names the format of a film, and its version.
const filmFormat = "turnstile film 1"

// A FilmEvent is an event of a film. What is sent, handled or lost if it is about a message, from Node to
// Peer. Otherwise it is the name of a history.Kind, such as entered, and the event has the fields of
// history.Event.
type FilmEvent struct {
	At       int64    `json:"at"` // nanoseconds since the run's zero
	What     string   `json:"what"`
	Node     nodes.ID `json:"node"`
	Instance uint16   `json:"instance,omitempty"`

	Peer   nodes.ID `json:"peer,omitempty"`
	Kind   uint8    `json:"kind,omitempty"`   // among the message kinds of the stack
	Number uint32   `json:"number,omitempty"` // of the message, from 1

	Value int64  `json:"value,omitempty"`
	Fence uint64 `json:"fence,omitempty"`
	Entry uint32 `json:"entry,omitempty"`
	Count uint32 `json:"count,omitempty"`
}

// What happens to messages in a film.
const (
	filmSent    = "sent"
	filmHandled = "handled"
	filmLost    = "lost"
)

// MostFilmed is how many messages a film has at most.
const MostFilmed = 100_000

// FilmOf returns the film of a run, given all of its events. fault describes a fault by its number.
func FilmOf(x *spacetime.Extract, title string, fault func(number uint32) string) (*Film, error) {
	f := &Film{Format: filmFormat, Title: title, Parts: catalog.PartsOf(x.Stack), Faults: []string{},
		Events: []FilmEvent{}}
	if len(x.Messages) > MostFilmed || x.TooMany {
		return nil, fmt.Errorf("%d messages are too many to watch: the page takes up to %d, so make a shorter run",
			len(x.Messages), MostFilmed)
	}
	mark := func(at int64, which uint32) {
		f.add(history.Event{At: at, Kind: history.Marked, Count: which, Node: nodes.None})
	}
	for _, e := range x.Events {
		f.add(e)
	}
	for _, p := range x.Pauses {
		f.between(history.Event{Kind: history.Paused, Count: p.Process}, history.Resumed, p.From, p.To, x.End)
	}
	for _, o := range x.Faults {
		f.between(history.Event{Kind: history.FaultBegan, Count: o.Number, Value: int64(o.Breaks),
			Entry: uint32(o.Victim + 1), Fence: o.Nodes}, history.FaultHealed, o.From, o.To, x.End)
		for len(f.Faults) < int(o.Number) {
			f.Faults = append(f.Faults, fault(uint32(len(f.Faults)+1)))
		}
	}
	if w := x.Measured; w.To > w.From {
		mark(w.From, history.Measuring)
		mark(w.To, history.Stopped)
	}
	if x.First != nil && x.First.What == spacetime.Stalled {
		mark(x.First.From, history.Stalled)
	}
	f.addMessages(x)
	mark(f.begin(), history.Began)
	slices.SortStableFunc(f.Events, func(a, b FilmEvent) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.actor(), b.actor()), cmp.Compare(rank(&a), rank(&b)))
	})
	return f, nil
}

// begin returns the time of the first event, or 0 if that is earlier.
func (f *Film) begin() (at int64) {
	for _, e := range f.Events {
		at = min(at, e.At)
	}
	return at
}

// add adds an event of the history.
func (f *Film) add(e history.Event) {
	f.Events = append(f.Events, FilmEvent{At: e.At, What: e.Kind.String(), Node: e.Node, Instance: e.Instance,
		Value: e.Value, Fence: e.Fence, Entry: e.Entry, Count: e.Count})
}

// between adds an event of the run that begins something, and one of another kind if it ends before the run.
func (f *Film) between(e history.Event, ends history.Kind, from, to, end int64) {
	e.At, e.Node = from, nodes.None
	f.add(e)
	if to < end {
		f.add(history.Event{At: to, Kind: ends, Count: e.Count, Node: nodes.None})
	}
}

// addMessages adds the messages, but those of failure detectors and other heartbeats.
func (f *Film) addMessages(x *spacetime.Extract) {
	number := uint32(0)
	for i := range x.Messages {
		m := &x.Messages[i]
		if x.Beats(m) {
			continue
		}
		number++
		e := FilmEvent{At: m.Sent, What: filmSent, Node: m.From, Peer: m.To, Instance: m.Instance, Kind: m.Kind,
			Number: number}
		if m.Sent != spacetime.Unknown {
			f.Events = append(f.Events, e)
		}
		if m.Over == spacetime.Unknown {
			continue
		}
		e.At, e.What = max(m.Sent, m.Over), filmHandled
		if m.Fate == spacetime.Lost {
			e.What = filmLost
		}
		if e.At == m.Sent {
			e.At++ // otherwise it would come before it was sent
		}
		f.Events = append(f.Events, e)
	}
}

// actor returns the node at which the event happens; None: it is an event of the run.
func (e *FilmEvent) actor() nodes.ID {
	if e.What == filmHandled || e.What == filmLost {
		return e.Peer
	}
	return e.Node
}

// rank orders events of one moment at a node: the beginning, what comes to it, what happens, what it sends.
func rank(e *FilmEvent) int {
	switch e.What {
	case filmHandled, filmLost:
		return 1
	case filmSent:
		return 3
	case history.Marked.String():
		if e.Count == history.Began {
			return 0
		}
	}
	return 2
}

// filmed are the kinds of events that films have, by name.
var filmed = func() map[string]history.Kind {
	all := map[string]history.Kind{}
	for _, k := range []history.Kind{history.Requested, history.Entered, history.Exited, history.Revoked,
		history.ToldLost, history.Elected, history.Crashed, history.Restarted, history.Campaigned,
		history.Suspected, history.Trusted, history.Paused, history.Resumed, history.FaultBegan,
		history.FaultHealed, history.Marked} {
		all[k.String()] = k
	}
	return all
}()

// event returns the event of the history; false: it is about a message.
func (e *FilmEvent) event() (history.Event, bool) {
	kind, is := filmed[e.What]
	return history.Event{At: e.At, Kind: kind, Node: e.Node, Instance: e.Instance, Value: e.Value,
		Fence: e.Fence, Entry: e.Entry, Count: e.Count}, is
}

// record returns the record of the message that the event is about.
func (e *FilmEvent) record() history.MessageRecord {
	r := history.MessageRecord{At: e.At, Seq: e.Number, Node: e.Node, Peer: e.Peer, Instance: e.Instance,
		Kind: e.Kind, Sent: e.What == filmSent, Lost: e.What == filmLost}
	if !r.Sent { // the receiver records it
		r.Node, r.Peer = e.Peer, e.Node
	}
	return r
}

// extract returns what happened in a window, given the stack of every node.
func (f *Film) extract(stack *algorithm.Stack, w section.Window) *spacetime.Extract {
	fold := spacetime.New(history.Header{}, stack, w)
	for i := range f.Events {
		if e, is := f.Events[i].event(); is {
			fold.Add(e)
		} else {
			fold.Message(f.Events[i].record())
		}
	}
	fold.Close(nil)
	return &fold.Extract
}
