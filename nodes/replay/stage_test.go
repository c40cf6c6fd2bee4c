package replay

import (
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/judge/check"
)

// If an assertion about leaders does not hold, the error says what holds instead.
func TestStatementsAboutLeaders(t *testing.T) {
	for steps, want := range map[string]string{
		"campaign 2; leads 1":            "the leader is 2",
		"leads 1":                        "nobody leads",
		"campaign 2; believes 2 -":       "it leads",
		"campaign 2; believes 1 2":       "it knows of no leader",
		"campaign 2; rest; believes 0 0": "it takes node 2 for the leader",
		"crash 0; believes 0 -":          "it is down",
		"crash 0; campaign 0":            "it is down",
		"believes 0 3":                   "there is no node 3",
		"leads 3":                        "there is no node 3",
	} {
		text := "turnstile schedule 1\nalgorithm chang-roberts\nn 3\n" + strings.ReplaceAll(steps, "campaign 2",
			"campaign 2; 2>0 election; 0>1 election; 1>2 election")
		s, err := Parse(strings.NewReader(text), catalog.Table{}.Find)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Play(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", steps, err, want)
		}
	}
}

// A step names a timer by its name, or by the numbers of its kind and peer.
func TestTimersGoByTheirNames(t *testing.T) {
	const head = "turnstile schedule 1\nalgorithm omega\nn 3\n"
	story := func(text string) (written, told string) {
		s, err := Parse(strings.NewReader(head+text), catalog.Table{}.Find)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Play(s)
		if err != nil {
			t.Fatal(err)
		}
		return s.String(), strings.Join(r.Story, "\n")
	}
	written, told := story("timeout 1 silence 0; timeout 2 beat")
	if !strings.HasSuffix(written, "\ntimeout 1 silence 0\ntimeout 2 beat\n") {
		t.Errorf("it is written as %s", written)
	}
	if !strings.Contains(told, "node 1: timer silence for 0 runs out") ||
		!strings.Contains(told, "node 2: timer beat runs out") {
		t.Errorf("it tells %s", told)
	}
	written, old := story("timeout 1 1 0; timeout 2 0 0")
	if old != told || !strings.HasSuffix(written, "\ntimeout 1 1 0\ntimeout 2 0 0\n") {
		t.Errorf("by its numbers it is written as %s, and tells %s", written, old)
	}
	for text, want := range map[string]string{
		"timeout 1 silense 0":   "node 1 of omega has no timer silense: did you mean silence?",
		"timeout 1 x":           "node 1 of omega has no timer x; there are: beat, silence",
		"timeout 1 silence":     "the timer silence is kept per peer: write which, such as timeout 0 silence 1",
		"timeout 1 beat 0":      "the timer beat is not kept per peer: leave out 0",
		"timeout 1@1 beat":      "write a timer by the numbers of its kind and peer, such as timeout 0@1 2 0",
		"timeout x beat":        "timeout takes a node and a timer, such as timeout 0 retry",
		"timeout 1 256 0":       "node 1 of omega has no timer 256",
		"timeout 1 silence 0 1": "the timer silence is kept per peer",
	} {
		if _, err := Parse(strings.NewReader(head+text), catalog.Table{}.Find); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A node that gives up its leader and sends in the same step has not sent as a follower.
func TestStageKeepsTheOrderOfEffects(t *testing.T) {
	s, err := Parse(strings.NewReader("turnstile schedule 1\nalgorithm omega-efficient\nn 3\n"+
		"0>1 heartbeat; 0>2 heartbeat; timeout 1 silence"), catalog.Table{}.Find)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Play(s)
	if err != nil {
		t.Fatal(err)
	}
	if outcome, says := check.JudgeReplay(r.History, r.Stack); outcome == check.Violated {
		t.Errorf("it is judged %v: %s", outcome, says)
	}
}
