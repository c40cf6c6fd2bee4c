package play

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// filmedRun simulates a run with the trace that a real run has, and returns its events, and its film as JSON.
func filmedRun(t *testing.T, name string, n int, faults ...string) (*spacetime.Extract, []byte) {
	t.Helper()
	a, err := table.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Latency, o.Trace = a.Name, n, chance.Constant(time.Millisecond), true
	o.Entries, o.Duration, o.Warmup, o.WarmupLimit = 30, 0, 0, 0
	o.Workload.Hold = chance.Constant(time.Millisecond)
	if kinds[a.Kind] == "election" {
		o.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.AllInitiate}
		o.Entries, o.Duration = 0, time.Second
	}
	for _, text := range faults {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, f)
	}
	job, err := bench.Resolve(table, o, a, true)
	if err != nil {
		t.Fatal(err)
	}
	asked, _, err := job.Simulation(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	h := &history.History{}
	if _, err := sim.Run(*asked, h); err != nil {
		t.Fatal(err)
	}
	fold := spacetime.New(h.Header(), job.Stack, section.Window{To: math.MaxInt64})
	h.Run(fold)
	film, err := FilmOf(&fold.Extract, "bench/1", func(uint32) string { return "what it does" })
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(film)
	if err != nil {
		t.Fatal(err)
	}
	return &fold.Extract, text
}

// shown begins to show a film that was read from JSON.
func shown(t *testing.T, text []byte) *Show {
	t.Helper()
	f := &Film{}
	if err := json.Unmarshal(text, f); err != nil {
		t.Fatal(err)
	}
	s, err := Screen(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A film has all that its run shows: played from JSON it gives the same messages, sections, leaders and
// failures, and ends as the run ended.
func TestFilmsAreTheirRuns(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		n         int
		faults    []string
	}{
		{"ricart-agrawala", 4, nil},
		{"raymond", 5, nil},
		{"naive-broadcast", 3, nil},
		{"maekawa-textbook", 4, nil},
		{"central", 3, nil},
		{"suzuki-kasami-ft", 4, []string{"kill: holder, at: 5ms"}},
		{"bully", 5, []string{"kill: leader, at: 300ms, for: 200ms", "cut: 0-1/2-4, at: 600ms, for: 100ms"}},
		{"raft-election", 3, []string{"pause: leader, at: 300ms, for: 200ms"}},
	} {
		run, text := filmedRun(t, c.algorithm, c.n, c.faults...)
		s := shown(t, text)
		x := s.film.extract(s.stack, run.Window)
		own := slices.DeleteFunc(slices.Clone(run.Messages), func(m spacetime.Message) bool {
			return run.Beats(&m)
		})
		counts := func(x *spacetime.Extract) []int {
			return []int{len(x.Sections), len(x.Reigns), len(x.Pauses), len(x.Deaths), len(x.Faults), len(x.Together)}
		}
		if is, was := counts(x), counts(run); !slices.Equal(is, was) || len(x.Messages) != len(own) ||
			(x.First == nil) != (run.First == nil) {
			t.Errorf("%s: the film has %d messages, %v sections, reigns, pauses, deaths, faults, failures, the first "+
				"%+v; the run %d, %v, %+v", c.algorithm, len(x.Messages), is, x.First, len(own), was, run.First)
		}
		for i := range own {
			if is, was := x.Messages[i], own[i]; is.From != was.From || is.To != was.To || is.Kind != was.Kind ||
				is.Fate != was.Fate || is.Sent != was.Sent || is.Over != was.Over {
				t.Fatalf("%s: message %d is %+v, and was %+v", c.algorithm, i, is, was)
			}
		}
		checkShow(t, c.algorithm, s, run)
	}
}

// checkShow watches a film to its end, and back.
func checkShow(t *testing.T, name string, s *Show, run *spacetime.Extract) {
	t.Helper()
	first := s.State()
	var states []string
	for step := range first.Steps + 1 {
		if err := s.Back(step); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(s.State())
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, string(text))
	}
	last := s.State()
	served := 0
	for _, x := range run.Sections {
		if x.Served() {
			served++
		}
	}
	if last.Counts.Entries != served || !last.Film || last.Kinds == nil || last.Last == nil {
		t.Errorf("%s: the film ends with %+v", name, last)
	}
	for _, kind := range last.Kinds { // exactly one node has a token, or it is on its way
		if !kind.Token || len(run.Faults) > 0 {
			continue
		}
		for i, text := range states {
			if tokens := strings.Count(text, `"token":true,"fence"`) + flyingTokens(t, text); tokens != 1 {
				t.Fatalf("%s: in step %d there are %d tokens: %s", name, i, tokens, text)
			}
		}
	}
	if (last.Found != nil) != (run.First != nil) {
		t.Errorf("%s: the film finds %+v, and the run %+v", name, last.Found, run.First)
	}
	for _, step := range []int{first.Steps / 2, 0, first.Steps} {
		if err := s.Back(step); err != nil {
			t.Fatal(err)
		}
		if text, _ := json.Marshal(s.State()); string(text) != states[step] {
			t.Errorf("%s: after going back to step %d, %s, before %s", name, step, text, states[step])
		}
	}
	if picture, err := s.Diagram(first.Steps-min(first.Steps, 20), first.Steps); err != nil ||
		!strings.Contains(picture, "<svg ") {
		t.Errorf("%s: the diagram is %.100q: %v", name, picture, err)
	}
}

// flyingTokens counts the tokens on their way in a state.
func flyingTokens(t *testing.T, text string) (count int) {
	t.Helper()
	var s State
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Flying {
		if s.Kinds[f.Kind].Token {
			count++
		}
	}
	return count
}

// The steps of a film are told as those of a schedule: a step is an event and what its node sends then.
func TestFilmsAreTold(t *testing.T) {
	_, text := filmedRun(t, "naive-broadcast", 2)
	s := shown(t, text)
	var told []string
	for step := 1; s.State().Found == nil; step++ {
		if err := s.Back(step); err != nil {
			t.Fatal(err)
		}
		told = append(told, s.State().Last.Text+"|"+strings.Join(s.State().Last.Story, "|"))
	}
	want := []string{"req 0|at 0s: node 0 asks and sends request to node 1",
		"req 1|at 0s: node 1 asks and sends request to node 0"}
	if !slices.Equal(told[:2], want) || s.State().Found.Check != "exclusion" {
		t.Errorf("it begins with %q, and ends with %+v", told[:2], s.State().Found)
	}
}

// A call shows a film, and then says why no step can be taken. A file that is no film is refused.
func TestFilmCalls(t *testing.T) {
	defer func() { stands = [2]stand{} }()
	_, film := filmedRun(t, "bully", 3, "kill: leader, at: 300ms, for: 200ms")
	text := strings.Replace(string(film), `"outcome":""`, `"outcome":"valid"`, 1)
	of := func(film string) string {
		args, _ := json.Marshal(map[string]any{"session": 1, "film": film}) // texts have no error
		return string(args)
	}
	for _, c := range []struct{ name, args, says string }{
		{"film", of(text), `"film":true`},
		{"back", `{"session":1,"to":5}`, `"step":5`},
		{"diagram", `{"session":1,"from":0,"to":5}`, `svg`},
		{"told", `{"session":1,"from":5,"to":7}`, `"story":["at `},
		{"told", `{"session":1,"from":0,"to":5000}`, `there are steps 0 to`},
		{"verdict", `{"session":1}`, `"outcome":"valid"`},
		{"back", `{"session":1,"to":5000}`, `there are steps 0 to`},
		{"take", `{"session":1,"step":"req 0"}`, `it can only be watched`},
		{"film", of(`{"format":"other"}`), `its format is to be`},
		{"film", of(`[1]`), `neither a schedule nor a recorded run`},
		{"film", of(`{"format"`), `neither a schedule nor a recorded run`},
		{"film", of(`{"format":"turnstile film 1"}`), `it needs at least one`},
		{"film", of(strings.Replace(text, `"what":"sent","node":`, `"what":"sent","node":9`, 1)),
			`a message of other nodes`},
		{"film", of(strings.Replace(text, `"what":"sent"`, `"what":"sung"`, 1)), `is unknown`},
	} {
		if got := string(Call(c.name, []byte(c.args))); !strings.Contains(got, c.says) {
			t.Errorf("%s %.60s: %.300s says nothing of %q", c.name, c.args, got, c.says)
		}
	}
}
