package chaos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/chaos/effect"
	"turnstile/internal/suggest"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A When is the moment that a fault waits for: something happens at a node for the nth time.
type When struct {
	Who   nodes.Group // nodes at which the event counts; nil: all
	Hosts nodes.Group // hosts whose nodes count; nil: see Who
	What  string      // requests, enters, exits, sends, receives or leads; empty: the fault waits for nothing
	Kind  string      // kind of the message sent or received: a name, token or permit; empty: any
	Nth   int         // the fault waits for the nth such event, from 1
}

// An occasion is an event at a node with the word for it.
type occasion struct {
	Example string
	Says    string

	word string
	what port.HookKind
}

// Occasions lists the events that a fault may wait for.
var Occasions = []occasion{
	{"when: 0-2 requests", "node 0, 1 or 2 has requested its critical section, and waits", "requests",
		port.OnRequest},
	{"when: 'any enters #5'", "a client has entered its critical section, for the fifth time of all",
		"enters", port.OnEnter},
	{"when: 3 exits", "node 3 has left its critical section, and has not released it yet", "exits",
		port.OnExit},
	{"when: 3 sends token", "node 3 has sent a message that carries the token", "sends", port.OnSend},
	{"when: any receives reply", "a node has handled a message of that kind", "receives", port.OnReceive},
	{"when: any leads", "a node has declared itself leader", "leads", port.OnLead},
}

const whenForms = "any enters, 3 enters, 0-2 requests, any receives token, " +
	"or any enters #5 for the fifth time"

// ParseWhen reads a moment: a node, an event and, if given, a kind of message and which occurrence counts.
func ParseWhen(text string) (When, error) {
	fail := func(why string) (When, error) {
		return When{}, fmt.Errorf("%q is not a moment%s: write %s", text, why, whenForms)
	}
	w := When{Nth: 1}
	words := strings.Fields(text)
	if last := len(words) - 1; last >= 0 && strings.HasPrefix(words[last], "#") {
		nth, err := strconv.ParseUint(words[last][1:], 10, 31)
		if err != nil || nth == 0 {
			return fail(", since # takes a number from 1")
		}
		w.Nth, words = int(nth), words[:last]
	}
	if len(words) > 2 && words[0] == "host" {
		hosts, _, err := effect.ParseHosts(words[0] + " " + words[1])
		if err != nil {
			return fail(", since " + err.Error())
		}
		w.Hosts, words = hosts, words[1:]
	}
	if len(words) < 2 || len(words) > 3 {
		return fail("")
	}
	if at := words[0]; w.Hosts == nil && at != "any" && at != "anyone" {
		group, err := nodes.ParseGroup(at)
		if err != nil {
			return fail(fmt.Sprintf(", since %q is neither any nor a list of nodes", at))
		}
		w.Who = group
	}
	i := slices.IndexFunc(Occasions, func(o occasion) bool { return o.word == words[1] })
	if i < 0 {
		var known []string
		for _, o := range Occasions {
			known = append(known, o.word)
		}
		if near := suggest.Nearest(words[1], known); near != "" {
			return When{}, fmt.Errorf("%q is not a moment: did you mean %s?", text, near)
		}
		return fail(fmt.Sprintf(", since the event must be one of %s", strings.Join(known, ", ")))
	}
	w.What = words[1]
	if len(words) == 3 {
		if what := Occasions[i].what; what != port.OnSend && what != port.OnReceive {
			return fail(fmt.Sprintf(", since only sends and receives take a kind of message such as %s", words[2]))
		}
		w.Kind = words[2]
	}
	return w, nil
}

// IsZero reports whether the fault waits for nothing.
func (w When) IsZero() bool { return w.What == "" }

// occasion returns the event that the fault waits for.
func (w *When) occasion() port.HookKind {
	i := slices.IndexFunc(Occasions, func(o occasion) bool { return o.word == w.What })
	return Occasions[i].what
}

// String writes the moment as ParseWhen reads it.
func (w When) String() string {
	if w.IsZero() {
		return ""
	}
	text := "any " + w.What
	switch {
	case len(w.Hosts) > 0:
		text = "host " + w.Hosts.String() + " " + w.What
	case len(w.Who) > 0:
		text = w.Who.String() + " " + w.What
	}
	if w.Kind != "" {
		text += " " + w.Kind
	}
	if w.Nth > 1 {
		text += fmt.Sprintf(" #%d", w.Nth)
	}
	return text
}

// MarshalText writes the moment as ParseWhen reads it.
func (w When) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads a moment as ParseWhen does. Empty text is the zero When.
func (w *When) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*w = When{}
		return nil
	}
	*w, err = ParseWhen(string(text))
	return err
}
