package replay

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
func (g *Stage) tick() error {
	if g.schedule.Timing == nil {
		return errors.New("time does not count here: " +
			"add a line such as timing 1ms uniform:1ms,2ms above the steps")
	}
	for i := range g.Flying {
		if f := &g.Flying[i]; f.Due() {
			return fmt.Errorf("%s has to arrive first", g.describe(*f))
		}
	}
	for id := range g.Nodes {
		for _, a := range g.Nodes[id].Timers {
			if a.Due() {
				return fmt.Errorf("timer %s of %s has to run out first", g.sayTimer(nodes.ID(id), a),
					g.name(nodes.ID(id)))
			}
		}
	}
	for i := range g.Flying {
		g.Flying[i].Window = g.Flying[i].Later()
	}
	for id := range g.Nodes {
		g.Nodes[id].Timers = g.schedule.Timing.Later(g.Nodes[id].Timers)
	}
	const passing = "time goes on to "
	if last := len(g.Story) - 1; last >= 0 && strings.HasPrefix(g.Story[last], passing) {
		g.Story = g.Story[:last]
	}
	g.clock += g.schedule.Timing.Tick
	g.together++
	g.tell(passing+"%v", g.clock)
	g.follow()
	return nil
}

// timeout has a timer run out.
func (g *Stage) timeout(s Step) error {
	for _, a := range g.Nodes[s.Node].Timers {
		if a.Timer != s.Timer || a.Instance != s.Instance {
			continue
		}
		if !a.Open() {
			return fmt.Errorf("it does not run out yet: the earliest is %s later", ticks(a.Opens))
		}
		g.runOut(s.Node, a)
		return nil
	}
	return fmt.Errorf("that timer does not run")
}

func (g *Stage) runOut(id nodes.ID, t RunningTimer) {
	g.tell("%s: timer %s runs out", g.name(id), g.sayTimer(id, t))
	g.feed(id, nodes.Input{Kind: nodes.Timeout, Instance: t.Instance, Timer: t.Timer, Gen: t.Gen})
}

func ticks(n int64) string {
	if n == 1 {
		return "1 tick"
	}
	return fmt.Sprintf("%d ticks", n)
}
