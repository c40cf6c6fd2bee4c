package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A stand is what stands in one place of the page: a [Session], or a film.
type stand interface {
	State() *State
	Back(to int) error
	Diagram(from, to int) (string, error)
}

// stands are the two places of the page, side by side.
var stands [2]stand

// A place names one of the stands. All arguments of calls about a stand have it.
type place struct {
	Session int `json:"session"`
}

func (p place) place() int { return p.Session }

// calls are the calls, by name.
var calls = map[string]func(args []byte) (any, error){
	"catalog":  taking(func(struct{}) (any, error) { return readCatalog() }),
	"explore":  taking(explored),
	"new":      taking(began),
	"simulate": taking(simulated),
	"back":     taking(wentBack),
	"take":     taking(took),
	"next":     taking(tookNext),
	"schedule": taking(func(p place) (any, error) { return with(p, (*Session).Schedule) }),
	"verdict":  taking(func(p place) (any, error) { return with(p, (*Session).Verdict) }),
	"diagram":  taking(drawn),
	"told":     taking(told),
	"story":    taking(storyText),
	"film":     taking(screened),
}

// taking returns a call that reads its arguments from JSON.
func taking[A any](do func(A) (any, error)) func([]byte) (any, error) {
	return func(text []byte) (any, error) {
		var args A
		if len(text) > 0 {
			if err := json.Unmarshal(text, &args); err != nil {
				return nil, fmt.Errorf("the arguments are not as expected: %w", err)
			}
		}
		if of, is := any(args).(interface{ place() int }); is {
			if at := of.place(); at < 0 || at >= len(stands) {
				return nil, fmt.Errorf("session %d: there are 0 and 1", at)
			}
		}
		return do(args)
	}
}

// Call makes a call by its name. The answer is a JSON object: its value as ok, or a sentence as error. A
// panic is an error, too: the page goes on.
func Call(name string, args []byte) (answered []byte) {
	defer func() {
		if p := recover(); p != nil {
			answered = answer(nil, fmt.Errorf("this is a mistake of the page: %v", p))
		}
	}()
	do, known := calls[name]
	if !known {
		return answer(nil, fmt.Errorf("there is no call %q: there are %s", name,
			strings.Join(slices.Sorted(maps.Keys(calls)), ", ")))
	}
	return answer(do(args))
}

// answer returns the answer of a call.
func answer(value any, err error) []byte {
	all := map[string]any{"ok": value}
	if err != nil {
		all = map[string]any{"error": err.Error()}
	}
	text, err := json.Marshal(all)
	if err != nil {
		text, _ = json.Marshal(map[string]any{"error": err.Error()}) // a text has no error
	}
	return text
}

// session returns the session in a place.
func (p place) session() (*Session, error) {
	switch of := stands[p.Session].(type) {
	case *Session:
		return of, nil
	case nil:
		return nil, errNothing
	}
	return nil, errors.New("this was recorded, so it can only be watched: begin with an algorithm to play")
}

var errNothing = errors.New("nothing is played: begin with an algorithm or a schedule")

// with returns what get says of the session in a place.
func with[V any](p place, get func(*Session) V) (any, error) {
	s, err := p.session()
	if err != nil {
		return nil, err
	}
	return get(s), nil
}

// stand puts a session or a film into a place, and returns its state.
func (p place) stand(of stand) *State {
	stands[p.Session] = of
	return of.State()
}

type beginArgs struct {
	place
	Schedule string `json:"schedule"`
}

// began begins a session, at the end of its schedule.
func began(a beginArgs) (any, error) {
	s, err := Open(a.Schedule)
	if err != nil {
		return nil, err
	}
	return a.stand(s), nil
}

type backArgs struct {
	place
	To int `json:"to"`
}

// wentBack goes to a step of a session or a film.
func wentBack(a backArgs) (any, error) {
	of := stands[a.Session]
	if of == nil {
		return nil, errNothing
	}
	if err := of.Back(a.To); err != nil {
		return nil, err
	}
	return of.State(), nil
}

type takeArgs struct {
	place
	Step string `json:"step"`
}

// took takes a step.
func took(a takeArgs) (any, error) {
	s, err := a.session()
	if err != nil {
		return nil, err
	}
	if err := s.Take(a.Step); err != nil {
		return nil, err
	}
	return s.State(), nil
}

type nextArgs struct {
	place
	By string `json:"by"` // latency or random
}

// A nextState is the state after a step that the session has chosen.
type nextState struct {
	*State
	Done bool `json:"done"` // no step was left
}

// tookNext takes a step that the session chooses.
func tookNext(a nextArgs) (any, error) {
	s, err := a.session()
	if err != nil {
		return nil, err
	}
	more, err := s.Next(a.By)
	if err != nil {
		return nil, err
	}
	return nextState{s.State(), !more}, nil
}

// rangeArgs name the steps of a session after From, up to To.
type rangeArgs struct {
	place
	From int `json:"from"`
	To   int `json:"to"`
}

// drawn draws some steps of a session or a film.
func drawn(a rangeArgs) (any, error) {
	of := stands[a.Session]
	if of == nil {
		return nil, errNothing
	}
	return of.Diagram(a.From, a.To)
}

// told tells some steps of a session.
func told(a rangeArgs) (any, error) {
	s, err := a.session()
	if err != nil {
		return nil, err
	}
	return s.Told(a.From, a.To)
}
