package explore

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/internal/suggest"
	"turnstile/nodes"
)

// parseTiming reads the arguments of timing.
func parseTiming(words []string) (*Timing, error) {
	if len(words) != 2 {
		return nil, errors.New("timing takes a tick and a latency, such as timing 1ms uniform:1ms,2ms")
	}
	tick, err := time.ParseDuration(words[0])
	switch unit := suggest.Unit(words[0], "ms"); {
	case err != nil && unit != nil:
		return nil, unit
	case err != nil:
		return nil, fmt.Errorf("%q is no tick: write a time, such as 1ms", words[0])
	}
	latency, err := chance.ParseDistribution(words[1])
	if err != nil {
		return nil, err
	}
	t := &Timing{Tick: tick, Latency: latency}
	return t, t.Validate()
}

// tick lets a tick pass. The error says what has to happen first.
func (g *stage) tick() error {
	if g.schedule.Timing == nil {
		return errors.New("time does not count here: " +
			"add a line such as timing 1ms uniform:1ms,2ms above the steps")
	}
	for i := range g.flying {
		if f := &g.flying[i]; f.due() {
			return fmt.Errorf("%s has to arrive first", g.describe(*f))
		}
	}
	for id := range g.staged {
		for _, a := range g.staged[id].timers {
			if a.due() {
				return fmt.Errorf("timer %s of %s has to run out first", g.sayTimer(nodes.ID(id), a),
					g.name(nodes.ID(id)))
			}
		}
	}
	for i := range g.flying {
		g.flying[i].window = g.flying[i].later()
	}
	for id := range g.staged {
		g.staged[id].timers = laterTimers(g.staged[id].timers)
	}
	const passing = "time goes on to "
	if last := len(g.story) - 1; last >= 0 && strings.HasPrefix(g.story[last], passing) {
		g.story = g.story[:last]
	}
	g.clock += g.schedule.Timing.Tick
	g.together++
	g.tell(passing+"%v", g.clock)
	g.follow()
	return nil
}

// timeout has a timer run out.
func (g *stage) timeout(s Step) error {
	for _, a := range g.staged[s.Node].timers {
		if a.timer != s.Timer || a.instance != s.Instance {
			continue
		}
		if !a.open() {
			return fmt.Errorf("it does not run out yet: the earliest is %s later", ticks(a.opens))
		}
		g.runOut(s.Node, a)
		return nil
	}
	return fmt.Errorf("that timer does not run")
}

func (g *stage) runOut(id nodes.ID, t runningTimer) {
	g.tell("%s: timer %s runs out", g.name(id), g.sayTimer(id, t))
	g.feed(id, nodes.Input{Kind: nodes.Timeout, Instance: t.instance, Timer: t.timer, Gen: t.gen})
}

// sayTimer returns in words which timer of a node one is.
func (g *stage) sayTimer(id nodes.ID, t runningTimer) string {
	in := &g.stack.Instances()[t.instance]
	return in.Spec.SayTimer(in.Config, id, t.timer)
}

func ticks(n int64) string {
	if n == 1 {
		return "1 tick"
	}
	return fmt.Sprintf("%d ticks", n)
}
