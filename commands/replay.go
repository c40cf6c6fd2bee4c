package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"turnstile/algorithms/catalog"
	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes/replay"
	"turnstile/report/text"
)

// replay plays the schedule in a file, and judges its history.
func (c *simulateCall) replay(a *app) error {
	text, err := scheduleText(c.schedule)
	if err != nil {
		return fmt.Errorf("--replay: %w", err)
	}
	path := input.Name(c.schedule)
	schedule, err := replay.Parse(bytes.NewReader(text), c.Find)
	if err != nil {
		return fmt.Errorf("--replay: %s: %w", path, err)
	}
	if c.asked != "" {
		asked, err := c.Find(c.asked)
		if err != nil {
			return err
		}
		if asked != schedule.Spec {
			return fmt.Errorf("--replay: %s is a schedule of %s, not of %s: leave out --algo",
				path, schedule.Spec.Name, asked.Name)
		}
	}
	played, err := replay.Play(schedule)
	if err != nil {
		return fmt.Errorf("--replay: %s: %w", path, err)
	}
	outcome, says := check.JudgeReplay(played.History, played.Stack)
	a.status = outcome.ExitCode()
	status := ""
	if outcome != check.Valid {
		status = played.Status.String()
	}
	if c.json {
		return terminal.PrintJSON(a.stdout, map[string]any{"algorithm": schedule.Spec.Name,
			"config": schedule.Config,
			"steps":  len(schedule.Steps), "story": played.Story, "verdict": outcome, "reason": says,
			"status": status})
	}
	tellReplay(a.stdout, schedule, played, outcome, says)
	return nil
}

// scheduleText reads the file of a schedule. If it does not exist, as outside a clone, the path may be that
// of a story that the program contains.
func scheduleText(path string) ([]byte, error) {
	text, err := input.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if story, found := catalog.Story(path); found {
			defer story.Close()
			return io.ReadAll(story)
		}
	}
	return text, err
}

// tellReplay prints the story of a schedule and the verdict.
func tellReplay(w io.Writer, s *replay.Schedule, played *replay.Played, outcome check.Outcome, says string) {
	fmt.Fprintf(w, "%s, a schedule of %s\n\n", strings.Join(append([]string{s.Spec.Name,
		english.Count(s.Config.N, "node", "nodes")}, s.Config.Given()...), ", "),
		english.Count(len(s.Steps), "step", "steps"))
	for _, line := range played.Story {
		fmt.Fprintf(w, "  %s\n", line)
	}
	fmt.Fprintf(w, "\n%s  %s\n", text.Outcome(terminal.PaletteFor(w), outcome), says)
	if outcome != check.Valid {
		fmt.Fprintf(w, "\n%s", played.Status)
	}
}
