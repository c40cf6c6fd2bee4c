package play

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const naive = "turnstile schedule 1\nalgorithm naive-broadcast\nn 2\n\n"

// open opens a schedule.
func open(t *testing.T, text string) *Session {
	t.Helper()
	s, err := Open(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// take takes steps.
func take(t *testing.T, s *Session, steps ...string) {
	t.Helper()
	for _, step := range steps {
		if err := s.Take(step); err != nil {
			t.Fatal(step, err)
		}
	}
}

// Two clients of naive-broadcast enter together in six steps, and the page says so.
func TestTwoEnterByHand(t *testing.T) {
	s := open(t, naive)
	take(t, s, "req 0", "req 1", "0>1 request", "1>0 request", "1>0 reply", "0>1 reply")
	found := s.State().Found
	if found == nil || found.Check != "exclusion" || !strings.Contains(found.Says, "while node") {
		t.Fatalf("found is %v", found)
	}
	if v := s.Verdict(); v.Outcome != "violated" || !strings.Contains(v.Reason, "inside together") {
		t.Errorf("the verdict is %v", v)
	}
	if err := s.Take("exit 0"); err == nil || !strings.Contains(err.Error(), "go back first") {
		t.Errorf("after a violation: %v", err)
	}
	if err := s.Back(5); err != nil || s.State().Found != nil {
		t.Errorf("one step back there is %v, %v", s.State().Found, err)
	}
}

// The steps of a schedule after a broken promise are forgotten.
func TestStepsAfterAViolation(t *testing.T) {
	s := open(t, naive+"req 0; req 1; 0>1 request; 1>0 request; 1>0 reply; 0>1 reply; exit 0; exit 1\n")
	o := s.State()
	if o.Step != 6 || o.Steps != 6 || o.Found == nil || o.Last.Story[0] != "node 1 gets reply from node 0" {
		t.Errorf("step %d of %d: %+v, %+v", o.Step, o.Steps, o.Found, o.Last)
	}
}

// Back k and forward k is the identity, for each k, also across copies of the stage.
func TestBackAndForward(t *testing.T) {
	s := open(t, "turnstile schedule 1\nalgorithm maekawa\nn 3\n")
	for range 2*snapshotEvery + 20 {
		if err := s.Next("latency"); err != nil {
			t.Fatal(err)
		}
	}
	end := s.at
	states := map[int]*State{}
	for k := 0; k <= end; k += 23 {
		if err := s.Back(k); err != nil {
			t.Fatal(err)
		}
		states[k] = s.State()
	}
	for k := end; k >= 0; k-- {
		if states[k] == nil {
			continue
		}
		for _, via := range []int{end, 0, k, max(0, k-1)} {
			if err := s.Back(via); err != nil {
				t.Fatal(err)
			}
			if err := s.Back(k); err != nil {
				t.Fatal(err)
			}
			if again := s.State(); !reflect.DeepEqual(again, states[k]) {
				t.Fatalf("step %d, by way of %d, differs: %s", k, via, different(again, states[k]))
			}
		}
	}
}

// different says in which fields two states differ.
func different(a, b *State) string {
	var all []string
	va, vb := reflect.ValueOf(*a), reflect.ValueOf(*b)
	for i := range va.NumField() {
		if !reflect.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface()) {
			one, _ := json.Marshal(va.Field(i).Interface())
			other, _ := json.Marshal(vb.Field(i).Interface())
			all = append(all, va.Type().Field(i).Name+": "+string(one)+" and "+string(other))
		}
	}
	return strings.Join(all, "; ")
}

// A step that does not apply changes nothing, and its error says why.
func TestWrongSteps(t *testing.T) {
	s := open(t, naive)
	take(t, s, "req 0")
	before := s.State()
	for step, want := range map[string]string{
		"req 0":            "its client is waiting, and asks only when idle",
		"0>1 reply":        "no such reply is on its way",
		"rqe 1":            "did you mean req?",
		"req 7":            "there is no node 7",
		"":                 "write one step",
		"req 1; req 1":     "write one step",
		"req 1 choosing 3": "the machine does not choose so",
	} {
		if err := s.Take(step); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", step, err, want)
		}
		if after := s.State(); !reflect.DeepEqual(before, after) {
			t.Errorf("%q changed the play: %s", step, different(before, after))
		}
	}
	if _, err := Open(naive + "req 5\n"); err == nil || !strings.Contains(err.Error(), "line 5, req 5") {
		t.Errorf("a wrong schedule: %v", err)
	}
	if _, err := Open("turnstile schedule 1\nalgorithm naive\nn 1000\n"); err == nil ||
		!strings.Contains(err.Error(), "the page shows up to 64") {
		t.Errorf("a thousand nodes: %v", err)
	}
}

// A schedule with notes is written as it was read, as far as it has been played.
func TestScheduleOfASession(t *testing.T) {
	text := naive + "# say: Both ask.\nreq 0\nreq 1\n# ask: Who enters? | node 0 ! | node 1\n0>1 request\n"
	text = wordTitle + " Both ask\n" + text
	s := open(t, text)
	if s.at != 0 || s.State().Title != "Both ask: naive-broadcast, 2 nodes" {
		t.Errorf("a schedule with notes opens at step %d as %q", s.at, s.State().Title)
	}
	if err := s.Back(3); err != nil {
		t.Fatal(err)
	}
	if got := s.Schedule(); got != text {
		t.Errorf("it is written as\n%s", got)
	}
	if err := s.Back(2); err != nil {
		t.Fatal(err)
	}
	q := s.State().Question
	if q == nil || q.Text != "Who enters?" || q.Right != 0 || len(q.Answers) != 2 {
		t.Errorf("after two steps the question is %v", q)
	}
	if _, err := Open(naive + "# ask: Who? | all\n"); err == nil ||
		!strings.Contains(err.Error(), "line 5: a question has two answers or more") {
		t.Errorf("a question with one answer: %v", err)
	}
}

// Notes of one step are one, and a question is the last of them.
func TestNotesOfOneStep(t *testing.T) {
	s := open(t, naive+"# say: A client\n# say: asks.\n# ask: Which? | 0 | 1\nreq 0\n")
	q := s.State().Question
	if q == nil || q.Text != "A client asks. Which?" || len(q.Answers) != 2 || q.Right != -1 {
		t.Errorf("the note is %+v", q)
	}
	_, err := Open(naive + "req 0\n# ask: Which? | 0 | 1\n# say: It is 0.\n")
	if err == nil || !strings.Contains(err.Error(), "line 7: a question is the last note of a step") {
		t.Errorf("a note after a question: %v", err)
	}
}

// The next of the known steps, taken by hand, keeps the steps and notes after it. Another step forgets them.
func TestTakeAKnownStep(t *testing.T) {
	s := open(t, naive+"# say: 0 asks\nreq 0\nreq 1\n# say: both ask\n0>1 request\n")
	take(t, s, "req 0")
	if o := s.State(); o.Step != 1 || o.Steps != 3 || len(s.notes) != 2 {
		t.Errorf("step %d of %d, and %d notes", o.Step, o.Steps, len(s.notes))
	}
	take(t, s, "0>1 request")
	if o := s.State(); o.Step != 2 || o.Steps != 2 || len(s.notes) != 1 || o.Question != nil {
		t.Errorf("after another: step %d of %d, and the notes %v", o.Step, o.Steps, s.notes)
	}
}

func TestStateOfAStep(t *testing.T) {
	s := open(t, "turnstile schedule 1\nalgorithm ricart\nn 3\n\n"+
		"req 0\nreq 1\n0>1 request\ncut 0/1-2\npause 2\n")
	o := s.State()
	switch {
	case o.Last.Text != "pause 2", o.Nodes[2].Side != 1, !o.Nodes[2].Paused, o.Nodes[0].State != "waiting":
		t.Errorf("the state is %+v", o)
	case o.Counts != Counts{Messages: 5, Waits: 2}:
		t.Errorf("the counts are %+v", o.Counts)
	}
	if err := s.Back(3); err != nil {
		t.Fatal(err)
	}
	o = s.State()
	want := Ran{Node: 1, Machine: "mutex.ricartAgrawala", Method: "Receive", Case: "raRequest"}
	if len(o.Last.Ran) != 1 || o.Last.Ran[0].Method != want.Method || o.Last.Number == 0 {
		t.Errorf("the step ran %+v", o.Last)
	}
	if err := s.Back(2); err != nil {
		t.Fatal(err)
	}
	o = s.State()
	changed := 0
	for _, f := range o.Nodes[1].Fields {
		if f.Changed {
			changed++
		}
	}
	if changed == 0 || len(o.Flying) == 0 || o.Flying[0].Text == "" {
		t.Errorf("node 1 is %+v, and on their way are %+v", o.Nodes[1], o.Flying)
	}
	if err := s.Back(5); err != nil {
		t.Fatal(err)
	}
	if svg, err := s.Diagram(0, 5); err != nil || !strings.Contains(svg, "fault 1 cut 0/1-2") {
		t.Errorf("the diagram does not show the cut: %v", err)
	}
	if svg, err := s.Diagram(0, 2); err != nil || !strings.Contains(svg, "<svg") {
		t.Errorf("the diagram: %v", err)
	}
}

// The calls of a page.
func TestCalls(t *testing.T) {
	for _, test := range []struct{ name, arguments, want string }{
		{"take", `{"step":"req 0","session":1}`, `"error":"nothing is played`},
		{"new", `{"schedule":"turnstile schedule 1\nalgorithm naive\nn 2\n"}`, `"algorithm":"naive-broadcast"`},
		{"take", `{"step":"req 0"}`, `"0\u003e1 request"`},
		{"next", `{"by":"random"}`, `"step":2`},
		{"next", `{"by":"size"}`, `not by \"size\"`},
		{"back", `{"to":0}`, `"step":0`},
		{"back", `{"to":9}`, `"error":"step 9: there are steps 0 to 2"`},
		{"schedule", `{}`, `turnstile schedule 1`},
		{"verdict", `{}`, `no promise was broken by then`},
		{"verdict", `{"session":2}`, `session 2: there are 0 and 1`},
		{"vredict", `{}`, `there is no call`},
		{"take", `{`, `the arguments are not as expected`},
		{"simulate", `{"algorithm":"ricart","n":3,"entries":9,"seed":1}`, `"step":0`},
	} {
		if got := string(Call(test.name, []byte(test.arguments))); !strings.Contains(got, test.want) {
			t.Errorf("%s %s: %.300s, want %s", test.name, test.arguments, got, test.want)
		}
	}
}

// Each step is told with what happened in it, and a step to come without.
func TestTold(t *testing.T) {
	s := open(t, naive+"req 0\n0>1 request\n1>0 reply\nexit 0\n")
	if err := s.Back(3); err != nil {
		t.Fatal(err)
	}
	all, err := s.Told(1, 4)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	if in := all[1]; in.Text != "1>0 reply" || !strings.Contains(strings.Join(in.Story, "; "), "node 0 enters") {
		t.Errorf("the third step is told as %v", in)
	}
	if ahead := all[2]; ahead.Text != "exit 0" || len(ahead.Story) > 0 {
		t.Errorf("the step to come is told as %v", ahead)
	}
	if _, err := s.Told(0, 5); err == nil {
		t.Error("a fifth step is told")
	}
}

// The most nodes that the page shows are more than a report of a stall lists.
func TestMostNodes(t *testing.T) {
	s := open(t, "turnstile schedule 1\nalgorithm ricart-agrawala\nn 64\n\nreq 63\n")
	if state := s.State(); len(state.Nodes) != mostNodes || state.Nodes[63].State != "waiting" {
		t.Errorf("%d nodes, the last %v", len(state.Nodes), state.Nodes[63])
	}
	if _, err := Open("turnstile schedule 1\nalgorithm ricart-agrawala\nn 65\n"); err == nil {
		t.Error("65 nodes are shown")
	}
}
