package commands

import (
	"context"

	"turnstile/algorithms/mutex"
	"turnstile/bench/study"
	"turnstile/internal/terminal"
)

func lonelyCommand() Command {
	return Command{Name: "lonely", Short: "Make a run of one node of each algorithm", Run: lonely}
}

// lonely prints a line for each run.
func lonely(ctx context.Context, a *app) error {
	l := study.Lonely{Experiment: study.Experiment{Algorithms: mutex.Table[:5], Seed: 1}}
	t := terminal.Table{Head: []string{"algorithm", "wrong"}}
	for _, r := range l.Make(ctx) {
		t.Add(r.Spec.Name, r.Wrong)
	}
	return t.Print(a.stdout)
}
