package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"turnstile/bench/check"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/explore"
)

// replay plays the schedule in a file, and judges what happened.
func (a *app) replay(c *simulateCall, algorithm string) error {
	path := c.schedule
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("--replay: %w", err)
	}
	defer file.Close()
	schedule, err := explore.ParseSchedule(file, catalog.Find)
	if err != nil {
		return fmt.Errorf("--replay: %s: %w", path, err)
	}
	if algorithm != "" {
		asked, err := catalog.Find(algorithm)
		if err != nil {
			return err
		}
		if asked != schedule.Spec {
			return fmt.Errorf("--replay: %s is a schedule of %s, and none of %s: leave out --algo",
				path, schedule.Spec.Name, asked.Name)
		}
	}
	played, err := explore.Replay(schedule)
	if err != nil {
		return fmt.Errorf("--replay: %s: %w", path, err)
	}
	outcome, says := judgeReplay(schedule, played)
	a.status = outcome.ExitCode()
	if outcome == check.Valid {
		played.Status = ""
	}
	if c.json {
		return printJSON(a.stdout, map[string]any{"algorithm": schedule.Spec.Name, "config": schedule.Config,
			"steps": len(schedule.Steps), "story": played.Story, "verdict": outcome, "reason": says,
			"status": played.Status})
	}
	a.tellReplay(schedule, played, outcome, says)
	return nil
}

// tellReplay prints what happened and what came of it.
func (a *app) tellReplay(s *explore.Schedule, played *explore.Replayed, outcome check.Outcome, says string) {
	report := newReport(a.stdout)
	report.printf("%s, a schedule of %s\n\n", strings.Join(append([]string{s.Spec.Name,
		english.Count(s.Config.N, "node", "nodes")}, s.Config.Given()...), ", "),
		english.Count(len(s.Steps), "step", "steps"))
	for _, line := range played.Story {
		report.printf("  %s\n", line)
	}
	report.printf("\n%s  %s\n", report.palette.outcome(outcome), says)
	if played.Status != "" {
		report.printf("\n%s", played.Status)
	}
}

// progresses reports whether a check is about progress rather than safety.
func progresses(check string) bool {
	return check == explore.CheckDeadlock || check == explore.CheckFairness || check == explore.CheckAgreement
}

// judgeReplay gives the verdict on what happened, as on a run.
func judgeReplay(s *explore.Schedule, played *explore.Replayed) (outcome check.Outcome, says string) {
	stack, err := nodes.NewStack(nodes.Instance{Spec: s.Spec, Config: s.Config})
	if err != nil {
		return check.Inconclusive, err.Error()
	}
	setting := check.SettingOf(stack)
	setting.Identities, setting.Exact = nil, nil // what is on its way when the schedule ends is not counted
	if setting.Leads != nil {
		// A step has no length, so for how long several lead, or one does without a majority, is not judged here.
		leads := *setting.Leads
		leads.Lapse, setting.Leads = nil, &leads
		if setting.Overlap > 0 {
			setting.Overlap = math.MaxInt64 - setting.Slack
		}
	}
	outcome, says = check.Inconclusive, "the schedule ends, and no promise was broken by then"
	switch v := check.Judge(played.History, setting); {
	case v.Outcome == check.Violated:
		outcome, says = v.Outcome, v.Reason
	case played.Violation != nil && played.Violation.OutsideModel != 0 &&
		progresses(played.Violation.Check):
		// As for a run: it did not promise progress then.
		says = fmt.Sprintf("%s (outside its model: it needs %v)", played.Violation.Says,
			played.Violation.OutsideModel)
	case played.Violation != nil:
		outcome, says = check.Violated, played.Violation.Says
		if needs := played.Violation.OutsideModel; needs != 0 {
			says += fmt.Sprintf(" (outside its model: it needs %v)", needs)
		}
	case v.Outcome == check.Valid:
		outcome, says = v.Outcome, v.Reason
	}
	return outcome, says
}
