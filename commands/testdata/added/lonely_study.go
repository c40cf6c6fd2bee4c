package study

import (
	"context"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/judge/check"
	"turnstile/option"
)

// A Lonely makes a run of one node of each algorithm, which is to be valid: nobody waits.
type Lonely struct{ Experiment }

// Make makes the runs.
func (l *Lonely) Make(ctx context.Context) []*Result {
	return made(l.run(ctx, 2, len(l.Algorithms), 0, len(l.Algorithms), func(number int) *Case {
		o := option.Defaults()
		o.Config.N, o.Entries, o.Duration, o.Warmup, o.WarmupLimit = 1, 20, 0, 0, 0
		j, err := bench.Resolve(catalog.Table{}, o, l.Algorithms[number], true)
		return &Case{Job: j, Err: err, Expect: func(r *Result) {
			if r.Err != nil || r.Verdict.Outcome != check.Valid {
				r.Wrong = r.Says
			}
		}}
	}))
}
