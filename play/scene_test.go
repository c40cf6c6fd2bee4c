package play

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// sceneEnds says how each scene ends: with a broken promise, a stall, or else a word of the last step that
// happened, with which verdict, and which assumption was broken before.
var sceneEnds = map[string]struct{ found, stuck, story, outcome, broken string }{
	"lost-update": {found: "AN UPDATE IS LOST: node 1 had read 0, and wrote 1 over 1",
		outcome: "violated"},
	"everybody-permits":    {found: "node 1 enters while node 0 is inside", outcome: "violated"},
	"lamport-queue":        {story: "node 2 gets release from node 0", outcome: "valid"},
	"stale-reply":          {found: "node 0 enters while node 1 is inside", outcome: "violated"},
	"stale-reply-tagged":   {story: "node 0 leaves", outcome: "valid"},
	"deadlock":             {stuck: "nodes 0, 2, 3 wait", outcome: "violated"},
	"deadlock-mended":      {story: "node 2 gets release from node 3", outcome: "valid"},
	"lost-token":           {stuck: "nodes 0, 1 wait", outcome: "inconclusive", broken: "no message is lost"},
	"raymonds-tree":        {story: "node 5 leaves", outcome: "valid"},
	"two-leaders":          {found: "nodes 2, 4 lead", outcome: "violated", broken: "are suspected"},
	"stale-vote":           {found: "nodes 0, 2 have led in term 1", outcome: "violated"},
	"paused-holder":        {found: "AN UPDATE IS LOST: node 0", outcome: "violated", broken: "bounded time"},
	"paused-holder-fenced": {story: "server 2 gets release from node 0", outcome: "valid"},
}

// Each scene opens at its start with words that say what to look at, asks before it ends, and ends as it
// promises.
func TestScenes(t *testing.T) {
	files, err := sceneFiles.ReadDir("scenes")
	if err != nil || len(files) != len(Scenes) || len(sceneEnds) != len(Scenes) {
		t.Fatalf("%d files, %d scenes, %d ends: %v", len(files), len(Scenes), len(sceneEnds), err)
	}
	for _, name := range Scenes {
		t.Run(name, func(t *testing.T) {
			text, found := Scene(name)
			if _, err := table.Find(name); err == nil || !found {
				t.Errorf("it has a text: %t; an algorithm has its name: %t", found, err == nil)
			}
			if !strings.HasPrefix(text, wordTitle+" ") {
				t.Errorf("it begins with %.40q", text)
			}
			s := open(t, text)
			if o := s.State(); o.Step != 0 || o.Steps < 7 || o.Question == nil || len(o.Question.Answers) > 0 {
				t.Errorf("it opens at step %d of %d with %+v", o.Step, o.Steps, o.Question)
			}
			checkNotes(t, s)
			if err := s.Back(len(s.schedule.Steps)); err != nil {
				t.Fatal(err)
			}
			checkSceneEnd(t, s, name)
		})
	}
}

// checkNotes checks the notes of a scene: they can be read at a glance, none stands after the end of the
// play, and a question with a right answer comes before the last step.
func checkNotes(t *testing.T, s *Session) {
	questions := 0
	for _, n := range s.notes {
		if len(n.Text) > 190 || n.At > len(s.schedule.Steps) {
			t.Errorf("step %d has a note of %d characters: %s", n.At, len(n.Text), n.Text)
		}
		if len(n.Answers) == 0 {
			continue
		}
		questions++
		if n.Right < 0 || n.At >= len(s.schedule.Steps) || !strings.HasSuffix(n.Text, "?") {
			t.Errorf("a question after step %d of %d: %+v", n.At, len(s.schedule.Steps), n)
		}
		if err := s.Back(n.At); err != nil || s.State().Found != nil || s.State().Stuck != "" {
			t.Errorf("at the question after step %d all is over: %v", n.At, err)
		}
	}
	if questions == 0 {
		t.Error("it asks nothing")
	}
}

// checkSceneEnd checks how a scene ends.
func checkSceneEnd(t *testing.T, s *Session, name string) {
	o, want := s.State(), sceneEnds[name]
	found := ""
	if o.Found != nil {
		found = o.Found.Says
	}
	if !strings.Contains(found, want.found) || (found == "") != (want.found == "") ||
		!strings.Contains(o.Stuck, want.stuck) || (o.Stuck == "") != (want.stuck == "") {
		t.Errorf("it ends with %q and %q", found, o.Stuck)
	}
	if !slices.Contains(o.Last.Story, want.story) && want.story != "" {
		t.Errorf("the last step is %q", o.Last.Story)
	}
	if over := found + o.Stuck; over != "" &&
		(!strings.Contains(o.Broken, want.broken) || (o.Broken == "") != (want.broken == "")) {
		t.Errorf("%s, since %q did not hold", over, o.Broken)
	}
	if v := s.Verdict(); v.Outcome != want.outcome {
		t.Errorf("the verdict is %+v", v)
	}
}

// What the page opens by the name of a scene is its schedule, at its start; and the fence refuses a write.
func TestSceneByName(t *testing.T) {
	var text struct{ OK string }
	if err := json.Unmarshal(Call("story", []byte(`{"path":"paused-holder-fenced"}`)), &text); err != nil {
		t.Fatal(err)
	}
	args, _ := json.Marshal(map[string]string{"schedule": text.OK})
	var got struct{ OK State }
	if err := json.Unmarshal(Call("new", args), &got); err != nil || got.OK.Step != 0 ||
		!strings.HasPrefix(got.OK.Title, "A paused lock holder, and the fence: central-lease") {
		t.Errorf("%v: it opens as %q at step %d", err, got.OK.Title, got.OK.Step)
	}
	s := open(t, text.OK)
	if err := s.Back(len(s.schedule.Steps) - 1); err != nil ||
		!strings.Contains(s.State().Last.Story[0], "what it wrote is refused") {
		t.Errorf("node 0 leaves: %v, %v", s.State().Last.Story, err)
	}
	if svg, err := s.Diagram(0, s.at); err != nil || !strings.Contains(svg, "write refused") {
		t.Errorf("the diagram draws no refused write: %v", err)
	}
}

// The page for teachers has the link, the command and the verdict of each scene, in their order.
func TestScenesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/teaching.md")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(page)
	for _, name := range Scenes {
		line := fmt.Sprintf("\n`play.html#play=%s`, `orchestrator play %[1]s`: %s\n", name, sceneEnds[name].outcome)
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("docs/teaching.md lacks, or has too early, the line%s", line)
		}
		rest = after
	}
	if strings.Contains(rest, "#play=") || strings.Count(string(page), "\nAsk: ") < 10 {
		t.Error("docs/teaching.md has another scene, or a scene without a question")
	}
}
