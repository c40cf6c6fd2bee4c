package play

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"turnstile/nodes/replay"
)

// Each challenge starts with a schedule that can be played, and an exploration finds its check in no more
// steps than the story that it was made from.
func TestChallengesCanBeMet(t *testing.T) {
	all, err := readCatalog()
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Challenges) < 30 {
		t.Errorf("there are %d challenges", len(all.Challenges))
	}
	named := map[string]bool{}
	for _, c := range all.Challenges {
		if named[c.ID] {
			t.Errorf("two challenges are named %s", c.ID)
		}
		named[c.ID] = true
		start, err := replay.Parse(strings.NewReader(c.Schedule), table.Find)
		if err != nil || len(start.Steps) > 0 {
			t.Fatalf("%s starts with %q: %v", c.ID, c.Schedule, err)
		}
		began := time.Now()
		found, err := find(c.space)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		schedule, err := replay.Parse(strings.NewReader(found.Schedule), table.Find)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		played, err := replay.Play(schedule)
		if err != nil || played.Violation == nil || played.Violation.Check != c.Check {
			t.Errorf("%s: its schedule leads to %+v: %v", c.ID, played, err)
		}
		t.Logf("%s: %s: %d steps, %v", c.ID, c.Title, found.Steps, time.Since(began).Round(time.Millisecond))
	}
}

const title = replay.ScheduleStart + " 1\n"

// The call explore finds the fewest steps, those that issue 48 names, also where the schedule has steps.
func TestFewestSteps(t *testing.T) {
	for _, c := range []struct {
		header, check string
		steps         int
	}{
		{"algorithm naive-broadcast\nn 2\n\nreq 0\n", "exclusion", 6},
		{"algorithm maekawa-textbook\nn 4\n", "deadlock", 14},
		{"algorithm lamport\nn 2\nreordering\n", "exclusion", 6},
		{"algorithm ricart-agrawala\nn 2\n\nreq 0; crash 0; amnesia 0\n", "exclusion", 8},
	} {
		args, _ := json.Marshal(map[string]string{"schedule": title + c.header, "check": c.check})
		var got struct {
			OK    Explored
			Error string
		}
		if err := json.Unmarshal(Call("explore", args), &got); err != nil || got.OK.Steps != c.steps {
			t.Errorf("%s: %+v, %v: the fewest steps are %d", c.header, got, err, c.steps)
		}
	}
}

// What cannot be explored is said in a sentence.
func TestExploreRefuses(t *testing.T) {
	for _, c := range []struct{ schedule, check, says string }{
		{"algorithm ricart-agrawala\nn 2\n", "exclusion", "no order of these events breaks it"},
		{"algorithm ricart-agrawala\nn 20\n", "exclusion", "an exploration takes up to 8"},
		{"algorithm ricart-agrawala\nn 2\n", "beauty", "no challenge of the check"},
		{"algorithm ricart\nn x\n", "exclusion", "line 3"},
	} {
		args, _ := json.Marshal(map[string]string{"schedule": title + c.schedule, "check": c.check})
		got := string(Call("explore", args))
		if !strings.Contains(got, `"error"`) || !strings.Contains(got, c.says) {
			t.Errorf("%s: %s says nothing about %q", c.schedule, got, c.says)
		}
	}
	if got := string(Call("dance", nil)); !strings.Contains(got, `there is no call \"dance\": there are back`) {
		t.Errorf("an unknown call: %s", got)
	}
}
