package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A stand is what stands in one place of the page: a [Session] or a [Show].
type stand interface {
	State() *State
	Back(to int) error
	Told(from, to int) ([]Told, error)
	Diagram(from, to int) (string, error)
	Verdict() Verdict
}

// stands are the two places of the page, side by side.
var stands [2]stand

// args are the arguments of calls. Each call has some of them.
type args struct {
	Session  int // the place
	Schedule string
	Film     string // as JSON
	Path     string // of a story
	Check    string // which an exploration is to find broken
	Step     string
	By       string // how the next step is chosen: latency or random
	From, To int    // the steps after From, up to To
	simulation
}

// calls are the calls, by name.
var calls = map[string]func(*args) (any, error){
	"catalog":  func(*args) (any, error) { return readCatalog() },
	"story":    func(a *args) (any, error) { return storyText(a.Path) },
	"explore":  func(a *args) (any, error) { return explored(a.Schedule, a.Check) },
	"new":      func(a *args) (any, error) { return a.begin(Open(a.Schedule)) },
	"simulate": func(a *args) (any, error) { return a.begin(a.simulated()) },
	"film":     func(a *args) (any, error) { return a.begin(screened(a.Film)) },
	"back":     on(func(s stand, a *args) (any, error) { return after(s, s.Back(a.To)) }),
	"told":     on(func(s stand, a *args) (any, error) { return s.Told(a.From, a.To) }),
	"diagram":  on(func(s stand, a *args) (any, error) { return s.Diagram(a.From, a.To) }),
	"verdict":  on(func(s stand, _ *args) (any, error) { return s.Verdict(), nil }),
	"take":     on(func(s *Session, a *args) (any, error) { return after(s, s.Take(a.Step)) }),
	"next":     on(func(s *Session, a *args) (any, error) { return after(s, s.Next(a.By)) }),
	"schedule": on(func(s *Session, _ *args) (any, error) { return s.Schedule(), nil }),
}

// begin puts what begins into its place, and returns its state.
func (a *args) begin(s stand, err error) (any, error) {
	if err == nil {
		stands[a.Session] = s
	}
	return after(s, err)
}

// on returns a call about what stands in a place, which is to be an S.
func on[S stand](do func(S, *args) (any, error)) func(*args) (any, error) {
	return func(a *args) (any, error) {
		switch s := stands[a.Session].(type) {
		case S:
			return do(s, a)
		case nil:
			return nil, errors.New("nothing is played: begin with an algorithm or a schedule")
		}
		return nil, errors.New("this was recorded, so it can only be watched: begin with an algorithm to play")
	}
}

// after returns the state after something was done, unless that failed.
func after(s stand, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return s.State(), nil
}

// Call makes a call by its name. The answer is a JSON object: its value as ok, or a sentence as error. A
// panic is an error, too: the page goes on.
func Call(name string, text []byte) (answered []byte) {
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
	var a args
	if err := json.Unmarshal(text, &a); err != nil {
		return answer(nil, fmt.Errorf("the arguments are not as expected: %w", err))
	}
	if a.Session < 0 || a.Session >= len(stands) {
		return answer(nil, fmt.Errorf("session %d: there are 0 and 1", a.Session))
	}
	return answer(do(&a))
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
