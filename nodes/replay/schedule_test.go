package replay

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

const naive = `turnstile schedule 1
algorithm naive-broadcast
n 2

`

const maekawa = "turnstile schedule 1\nalgorithm maekawa\n"

func TestScheduleIsReadAsItIsWritten(t *testing.T) {
	s := &Schedule{Spec: algorithmOf(t, "maekawa"), Config: nodes.Config{N: 4}.With("quorums", "grid"),
		Reordering: true, UntilLost: true,
		Steps: []Step{
			{What: StepStart, Node: 1, Choosing: []int{2}},
			{What: StepRequest, Node: 3, Choosing: []int{0, 1}},
			{What: StepRelease, Node: 3, Crashing: 2}, {What: StepRestart, Node: 3, Crashing: 1, Choosing: []int{4}},
			{What: StepDeliver, Node: 1, From: 0, To: 1, Kind: "request", Nth: 1},
			{What: StepDrop, Node: 1, From: 0, To: 1, Kind: "request", Nth: 2},
			{What: StepDuplicate, Node: 1, From: 0, To: 1, Kind: "request", Nth: 1},
			{What: StepTimeout, Node: 2, Timer: nodes.Timer{Kind: 1, Peer: -1}},
			{What: StepRelease, Node: 3}, {What: StepCrash, Node: 3}, {What: StepRestart, Node: 3},
			{What: StepAmnesia, Node: 3}, {What: StepRest}, {What: stepIn},
			{What: stepIn, Who: []nodes.ID{0, 2}}, {What: stepIn, Who: []nodes.ID{0, 2}, Instance: 1},
			{What: StepPause, Node: 1}, {What: StepResume, Node: 1}, {What: StepHeal},
			{What: StepCut, Sides: []nodes.Group{{0, 1}, {2}}},
			{What: StepCampaign, Node: 2}, {What: stepLeads}, {What: stepLeads, Who: []nodes.ID{1, 3}},
			{What: stepBelieves, Node: 1, Peer: 3}, {What: stepBelieves, Node: 1, Peer: nodes.None},
			{What: stepBelieves, Node: 1, Peer: nodes.Somebody, Instance: 2},
			{What: stepNone, Node: 1, From: 0, To: 1, Kind: "locked", Nth: 2},
			{What: StepDeliver, Try: true, Node: 1, From: 0, To: 1, Kind: "request", Nth: 3, Choosing: []int{7}},
		}}
	read, err := Parse(strings.NewReader("# a comment\n"+s.String()+" # another\n"), mutex.Find)
	if err != nil {
		t.Fatal(err)
	}
	for i := range read.Steps {
		read.Steps[i].Line = 0
	}
	if !reflect.DeepEqual(read, s) {
		t.Errorf("%v was read as %v", s, read)
	}
}

func TestScheduleOfSeveralStepsInALine(t *testing.T) {
	const steps = "req 0;req 1; # both\n;0>1 request\n----\nno step"
	read, err := Parse(strings.NewReader(naive+steps), mutex.Find)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(read.Steps); got != "[req 0 req 1 0>1 request]" || read.Steps[2].Line != 6 {
		t.Errorf("the steps are %s, the last of line %d", got, read.Steps[2].Line)
	}
}

func TestParseScheduleSaysWhatIsRight(t *testing.T) {
	const title = "turnstile schedule 1\n"
	for text, want := range map[string]string{
		"":                         "the file is empty",
		"req 0":                    "line 1: this is no schedule: one begins with a line turnstile schedule 1",
		"turnstile schedule 2":     "line 1: this is a schedule of version 2, and only version 1 can be played",
		"turnstile schedule 1":     "add a line such as algorithm",
		naive + "rqe 0":            `line 5: there is no step "rqe": did you mean req?`,
		naive + "elephant 0":       "; there are: start, req, exit, 0>1 KIND, drop",
		naive + "req":              "line 5: req takes a node, such as req 0",
		naive + "req 0@x":          "names no instance: write the number of one behind @, such as 0@1",
		naive + "req 0 units 0":    "is no number of units: write a whole number from 1",
		naive + "timeout 0 retry":  "the timers of naive-broadcast have no names: write the numbers",
		naive + "0>1":              "say which message, such as 0>1 request",
		naive + "req 0 choosing":   "such as choosing 2 0",
		naive + "choosing 1":       "choosing comes after a step",
		naive + "try":              "choosing comes after a step and try before it",
		naive + "in":               "in takes the nodes whose clients are inside",
		naive + "leads":            "line 5: leads takes the nodes that lead, such as leads 3",
		naive + "believes 1":       "line 5: believes takes a node and its leader",
		naive + "campaign":         "line 5: campaign takes a node, such as campaign 0",
		naive + "rest 1":           "rest takes no arguments",
		naive + "heal 1":           "heal takes no arguments",
		naive + "cut 0":            "line 5: cut takes two sides or more, such as cut 0-1/2",
		naive + "cut 0-1/1":        "line 5: cut: node 1 is on two sides",
		naive + "cut 0/x":          `line 5: cut: "x" names no nodes`,
		naive + "req 0\nn 3":       "line 6: n comes after a step",
		naive + "n none":           `line 5: n is "none": write a whole number from 1`,
		naive + "detector perfect": "line 5: detector: the only value: none",
		naive + "until two":        "line 5: until: the only value: lost-update",
		maekawa + "quorums":        "line 3: quorums takes one word",
		maekawa + "qourums grid":   `maekawa has no option qourums: did you mean quorums?`,
		naive + "quorums grid":     `line 5: naive-broadcast has no option quorums: it has defer (inside, never)`,
		title + "algorihtm naive":  `line 2: there is no line "algorihtm": did you mean algorithm?`,
		title + "tree line":        "line 2: tree comes before the algorithm",
		naive + "algorithm naif":   `line 5: unknown algorithm "naif": did you mean`,
		naive + "n 3":              "line 5: n was given above: leave out one of the two",
		naive + "try in 0":         "line 5: in cannot be skipped: leave out try",
		"turnstile schedule 1\nalgorithm naive-broadcast\n": "add a line such as n 2",
	} {
		_, err := Parse(strings.NewReader(text), mutex.Find)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestReplaySaysWhichStepDoesNotApply(t *testing.T) {
	for steps, want := range map[string]string{
		"req 2":        "line 5, req 2: there is no node 2: they are 0 to 1",
		"exit 0":       "its client is idle, and leaves only when inside",
		"req 0\nreq 0": "line 6, req 0: its client is waiting, and asks only when idle",
		"0>1 request":  "no message is on its way from node 0 to node 1",
		"req 0\n0>1 reply": "no such reply is on its way from node 0 to node 1; " +
			"the next message is a request",
		"req 0\n0>1 request 2":    "no such request",
		"restart 0":               "it is not down",
		"crash 0\nreq 0":          "it is down",
		"pause 0\nreq 0":          "it is paused: resume it first",
		"pause 0\npause 0":        "it is paused already",
		"resume 0":                "it is not paused",
		"heal":                    "no cut is in force",
		"cut 0/2":                 "there is no node 2: they are 0 to 1",
		"timeout 0 1 1":           "that timer does not run",
		"req 0\nstart 0":          "it has started already",
		"req 0 choosing 1":        "check the answers after choosing",
		"req 0\nreq 1\n0>1 reply": "the next message is a request",
		"in 0":                    "line 5, in 0: nobody is inside",
		"req 0; rest; req 1; 1>0 request; 0>1 reply; in -": "inside is 1",
		"req 0; none 0>1 request":                          "there is a request from node 0 to node 1",
		"none 0>1 bogus":                                   "no message of kind bogus: there are request, reply",
		"none 0>9 reply":                                   "there is no node 9: they are 0 to 1",
		"in 0 9":                                           "there is no node 9: they are 0 to 1",
		"drop 7>1 reply":                                   "there is no node 7: they are 0 to 1",
		"try exit 7":                                       "there is no node 7: they are 0 to 1",
		"try 0>1 bogus":                                    "there is no message of kind bogus",
		"try req 0 choosing 1":                             "check the answers after choosing",
		"campaign 0":                                       "naive-broadcast elects no leaders",
		"campaign 0@1":                                     "there is no instance 1",
		"leads 0":                                          "line 5, leads 0: it elects no leaders",
		"suspect 0>1":                                      "node 0 listens to no failure",
		"believes 0 -":                                     "it elects no leaders",
	} {
		s, err := Parse(strings.NewReader(naive+steps), mutex.Find)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Play(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", steps, err, want)
		}
	}
}

// played returns what came of a schedule.
func played(t *testing.T, text string) *Played {
	t.Helper()
	s, err := Parse(strings.NewReader(text), mutex.Find)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Play(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is tried is skipped if it does not apply; a rest goes on until all is over.
func TestReplayRests(t *testing.T) {
	const story = `node 0 asks and sends request to node 1
node 1 asks and sends request to node 0
node 1 gets request from node 0 and sends reply to node 0
node 0 gets request from node 1
node 0 gets reply from node 1
node 0 enters
node 0 leaves and sends reply to node 1
node 1 gets reply from node 0
node 1 enters
node 1 leaves`
	r := played(t, "turnstile schedule 1\nalgorithm ricart-agrawala\nn 2\n"+
		"try exit 0; none 0>1 request; req 0; req 1; in -; try 1>0 reply; rest; in -; rest")
	if got := strings.Join(r.Story, "\n"); got != story || r.Violation != nil {
		t.Errorf("the story is\n%s\n%+v", got, r.Violation)
	}
}

func TestRestOfWhatCirculates(t *testing.T) {
	r := played(t, "turnstile schedule 1\nalgorithm token-ring\nn 3\nreq 2; rest; in -")
	if got := r.Story[len(r.Story)-1]; got != "node 2 leaves and sends token to node 0" {
		t.Errorf("the story ends with %s", got)
	}
}

// A broken promise ends the play: the steps after it need not even apply.
func TestReplayEndsWithAViolation(t *testing.T) {
	r := played(t, naive+"req 0; req 1; 0>1 request; 1>0 request; rest; in -; exit 5")
	if r.Violation == nil || r.Violation.Check != CheckExclusion {
		t.Errorf("%+v", r.Violation)
	}
}

// Until an update is lost, two may be inside together, and the story tells what they read and write.
func TestReplayUntilAnUpdateIsLost(t *testing.T) {
	const steps = "req 0; req 1; 0>1 request; 1>0 request; 1>0 reply; 0>1 reply; exit 0\n"
	head := strings.TrimSpace(naive) + "\nuntil lost-update\n"
	r := played(t, head+steps+"req 0")
	if r.Violation != nil || r.Story[len(r.Story)-2] != "node 0 leaves and writes 1" {
		t.Errorf("%+v; the story is %q", r.Violation, r.Story)
	}
	r = played(t, head+steps+"exit 1; exit 5")
	const says = "AN UPDATE IS LOST: node 1 had read 0, and wrote 1 over 1"
	if r.Violation == nil || r.Violation.Says != says || r.Violation.Check != CheckExclusion {
		t.Errorf("%+v", r.Violation)
	}
	if outcome, _ := check.JudgeReplay(r.History, r.Stack); outcome != check.Violated {
		t.Errorf("it is judged %v", outcome)
	}
	const fenced = "turnstile schedule 1\nalgorithm central-lease\nn 2\nfenced\nuntil lost-update\n" +
		"req 0; 0>2 request; 2>0 grant; req 1; 1>2 request; timeout 2 expiry; 2>1 grant; exit 1; exit 0"
	if r = played(t, fenced); r.Violation != nil {
		t.Errorf("a fence refuses late writes, and yet: %+v", r.Violation)
	}
}

// Faults of every sort appear in the story and in the history.
func TestReplayTellsOfFaults(t *testing.T) {
	const head = "turnstile schedule 1\nalgorithm ricart-agrawala\nn 3\nreordering\n"
	r := played(t, head+"req 0; dup 0>1 request; 0>1 request 2; drop 0>2 request; crash 2; restart 2\n"+
		"1>0 reply; 0>1 request; 1>0 reply")
	const story = `node 0 asks and sends request to all
the network copies a request from node 0 to node 1
node 1 gets request from node 0 and sends reply to node 0
the network loses a request from node 0 to node 2
node 2 crashes
node 2 comes up again, having forgotten everything
node 0 gets reply from node 1
node 1 gets request from node 0 and sends reply to node 0
node 0 gets reply from node 1
nothing is left to happen, and node 0 waits`
	if got := strings.Join(r.Story, "\n"); got != story {
		t.Errorf("the story is\n%s", got)
	}
	want := nodes.FIFO | nodes.NoDuplication | nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia
	spec := algorithmOf(t, "ricart-agrawala")
	v := check.Judge(r.History, check.SettingOfReplay(r.Stack))
	if failed, broken := v.Failed(); failed != "progress" || broken != want&(spec.Safe|spec.Live) {
		t.Errorf("%+v", v)
	}
	if r.Violation == nil || r.Violation.Stall == "" {
		t.Error("nothing is said of the stall")
	}
}

func FuzzParseSchedule(f *testing.F) {
	f.Add(naive + "req 0\n0>1 request 2\ntimeout 0 1 2 choosing 3")
	f.Add("turnstile schedule 1\nalgorithm omega\nn 3\ntimeout 0 silence 2; try timeout 0 beat; timeout 0@1 2 0")
	f.Add(naive + "try tick; in 0 1; none 0>1 request 2; rest; in -\n----\nwhat it told")
	f.Add(naive + "0>1 reply@1\n0>0 @0")
	f.Add("turnstile schedule 1\nalgorithm bully\nn 3\ncampaign 0; leads 0@1 2; believes 1 somebody; leads -")
	f.Add("turnstile schedule 1\nalgorithm maekawa\nn 1\nreordering\nquorums grid\ndrop 0>1 a")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(strings.NewReader(text), catalog.Table{}.Find)
		if err != nil {
			return
		}
		again, err := Parse(strings.NewReader(s.String()), catalog.Table{}.Find)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, s.String(), err)
		}
		if again.String() != s.String() {
			t.Errorf("%q was written as %q, and that as %q", text, s.String(), again.String())
		}
	})
}

// algorithmOf returns an algorithm of the table.
func algorithmOf(t testing.TB, name string) *algorithm.Algorithm {
	t.Helper()
	spec, err := mutex.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}
