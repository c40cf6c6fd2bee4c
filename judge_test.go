package turnstile_test

import (
	"fmt"
	"strings"
	"testing"

	"turnstile"
	"turnstile/algorithms/catalog"
	"turnstile/nodes"
)

// ms is a millisecond in the times of lines.
const ms = 1_000_000

// line writes an event as runs history --format jsonl does. more has further columns.
func line(at, node int, kind, more string) string {
	return fmt.Sprintf(`{"at_ns":%d,"node":%d,"event":%q%s}`+"\n", at, node, kind, more)
}

func elects(at, node, leader, term int) string {
	return line(at, node, "elected", fmt.Sprintf(`,"leader":%d,"term":%d`, leader, term))
}

func mark(at int, name string) string { return line(at, -1, "marked", fmt.Sprintf(`,"mark":%q`, name)) }

// between puts the marks of a run around its events, from its begin to a time.
func between(events string, end int) string {
	return mark(0, "began") + mark(0, "measuring") + events + mark(end, "stopped") + mark(end, "rested")
}

// passing returns a history: node 1 requests, and node 0 enters 100 times before it.
func passing() string {
	text := line(0, 1, "requested", `,"entry":1`)
	for i := range 100 {
		number := fmt.Sprintf(`,"entry":%d`, i+1)
		text += line(3*i*ms, 0, "requested", number) + line((3*i+1)*ms, 0, "entered", number) +
			line((3*i+2)*ms, 0, "exited", number)
	}
	return text + line(400*ms, 1, "entered", `,"entry":1`) + line(401*ms, 1, "exited", `,"entry":1`)
}

// Judge assumes nothing that a history lacks. It does not make checks that need it.
func TestJudgeDoesNotGuess(t *testing.T) {
	leases := line(0, 0, "requested", `,"entry":1`) + line(0, 1, "requested", `,"entry":1`) +
		line(1*ms, 0, "entered", `,"entry":1,"fence":1`) + line(9*ms, 1, "entered", `,"entry":1,"fence":2`) +
		line(15*ms, 0, "exited", `,"entry":1`) + line(20*ms, 1, "exited", `,"entry":1`)
	agreed := elects(1, 0, 2, 1) + elects(1, 1, 2, 1) + elects(1, 2, 2, 1)
	for name, test := range map[string]struct {
		of    turnstile.Recorded
		row   string
		text  string
		check string
		says  string
	}{
		"fences without an account": {turnstile.Recorded{Virtual: true, Config: nodes.Config{N: 2, Fenced: true}},
			"central-lease", leases, "exclusion",
			"inconclusive: 2 entries overlapped, and the history has no account"},
		"overtaking without delays": {turnstile.Recorded{Virtual: true, Config: nodes.Config{N: 2}},
			"lamport", passing(), "fairness", "valid: not judged: how long a message may take is unknown"},
		"an election that is not over": {turnstile.Recorded{Virtual: true, Config: nodes.Config{N: 3}},
			"chang-roberts", between(line(0, 0, "campaigned", "")+elects(1*ms, 2, 2, 0), 2*ms),
			"agreement", "inconclusive: the nodes do not agree"},
		"real processes are late": {turnstile.Recorded{Config: nodes.Config{N: 3}}, "bully",
			between(agreed+elects(1000*ms, 1, 1, 1)+elects(1060*ms, 1, 2, 1), 2000*ms),
			"leaders", "violated: two leaders"},
		"a detector that reports": {turnstile.Recorded{Virtual: true, Config: nodes.Config{N: 3}},
			"bully-majority", between(agreed+line(1000*ms, 0, "killed", "")+line(1000*ms, 0, "crashed", "")+
				line(1100*ms, 1, "suspected", `,"suspect":0`)+line(1100*ms, 2, "suspected", `,"suspect":0`)+
				elects(2000*ms, 1, 1, 2), 100_000*ms), "leaders", "violated: two leaders"},
	} {
		r, err := (catalog.Table{}).Find(test.row)
		if err != nil {
			t.Fatal(err)
		}
		test.of.Row = r
		v, err := turnstile.Judge(strings.NewReader(test.text), test.of)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := "no such check"
		for _, f := range v.Findings {
			if f.Check == test.check {
				got = f.Outcome.String() + ": " + f.Says
			}
		}
		if !strings.HasPrefix(got, test.says) {
			t.Errorf("%s: %s: %s, want %s", name, test.check, got, test.says)
		}
	}
}
