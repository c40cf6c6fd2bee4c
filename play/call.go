package play

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Sessions of one page: two, side by side.
var sessions [2]played

// played is a session or a film.
type played interface {
	State() *State
	Back(to int) error
}

// A request has the arguments of a call. Each call reads some of them.
type request struct {
	Session   int               `json:"session"`
	Schedule  string            `json:"schedule"`
	Step      string            `json:"step"`
	To        int               `json:"to"`
	From      int               `json:"from"`
	By        string            `json:"by"`
	Algorithm string            `json:"algorithm"`
	N         int               `json:"n"`
	Options   map[string]string `json:"options"`
	Entries   uint64            `json:"entries"`
	Seed      uint64            `json:"seed"`
	Latency   string            `json:"latency"`
	Fault     string            `json:"fault"`
	Check     string            `json:"check"`
	Film      json.RawMessage   `json:"film"`
}

// calls are all calls, by name.
var calls = map[string]func(request) (any, error){
	"new":      callNew,
	"take":     onSession(func(s *Session, r request) error { return s.Take(r.Step) }),
	"back":     callBack,
	"next":     callNext,
	"schedule": ofSession(func(s *Session, _ request) (any, error) { return s.Schedule(), nil }),
	"verdict":  ofSession(func(s *Session, _ request) (any, error) { return s.Verdict(), nil }),
	"diagram":  ofSession(func(s *Session, r request) (any, error) { return s.Diagram(r.From, r.To) }),
	"simulate": callSimulate,
}

// Call makes a call: its name, and its arguments as JSON. It returns {"ok": value} or {"error": sentence}. A
// panic is an error, too, since the page goes on.
func Call(name string, arguments []byte) (answer []byte) {
	defer func() {
		if p := recover(); p != nil {
			answer = answerOf(nil, fmt.Errorf("the play has a mistake: %v", p))
		}
	}()
	call, known := calls[name]
	if !known {
		var names []string
		for name := range calls {
			names = append(names, name)
		}
		sort.Strings(names)
		return answerOf(nil, fmt.Errorf("there is no call %q: there are %s", name, strings.Join(names, ", ")))
	}
	var r request
	if err := json.Unmarshal(arguments, &r); err != nil {
		return answerOf(nil, fmt.Errorf("%s: its arguments are no JSON: %w", name, err))
	}
	if r.Session < 0 || r.Session >= len(sessions) {
		return answerOf(nil, fmt.Errorf("session %d: there are 0 and 1", r.Session))
	}
	return answerOf(call(r))
}

// answerOf writes the answer of a call.
func answerOf(value any, err error) []byte {
	if err != nil {
		value = map[string]string{"error": err.Error()}
	} else {
		value = map[string]any{"ok": value}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return answerOf(nil, err)
	}
	return text
}

// callNew begins a session, at the end of its schedule.
func callNew(r request) (any, error) {
	s, err := Open(r.Schedule)
	if err != nil {
		return nil, err
	}
	sessions[r.Session] = s
	return s.State(), nil
}

// callBack goes to a step of a session or a film.
func callBack(r request) (any, error) {
	of := sessions[r.Session]
	if of == nil {
		return nil, errNothing
	}
	if err := of.Back(r.To); err != nil {
		return nil, err
	}
	return of.State(), nil
}

var errNothing = fmt.Errorf("nothing is played: begin with an algorithm or a schedule")

// ofSession makes a call of what needs a session.
func ofSession(do func(*Session, request) (any, error)) func(request) (any, error) {
	return func(r request) (any, error) {
		switch of := sessions[r.Session].(type) {
		case nil:
			return nil, errNothing
		case *Session:
			return do(of, r)
		}
		return nil, fmt.Errorf("this was recorded, so it can only be watched: begin with an algorithm to play")
	}
}

// onSession makes a call of what changes a session, and returns its state.
func onSession(do func(*Session, request) error) func(request) (any, error) {
	return ofSession(func(s *Session, r request) (any, error) {
		if err := do(s, r); err != nil {
			return nil, err
		}
		return s.State(), nil
	})
}

// callNext takes a step that the session chooses.
func callNext(r request) (any, error) {
	return ofSession(func(s *Session, r request) (any, error) {
		more, err := s.Next(r.By)
		if err != nil {
			return nil, err
		}
		return struct {
			*State
			Done bool `json:"done"` // no step was left
		}{s.State(), !more}, nil
	})(r)
}
