package main

import (
	"errors"
	"fmt"
	"strings"

	"turnstile/internal/chance"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// explain tells an election message by message: that of the initiators and, of a scheme that outlasts
// crashes, the one after the leader has crashed. Messages arrive in the order in which they were sent, and
// timers run out when nothing else is left.
func (a *app) explain(c *benchCall) error {
	if len(c.Faults) > 0 {
		return errors.New("--explain tells what happens when nothing goes wrong, and then when the leader " +
			"crashes: leave out the faults, or write a schedule for simulate --replay")
	}
	const most = 32
	if c.Config.N > most {
		return fmt.Errorf("--explain: %d nodes would tell more than anybody reads: take up to %d", c.Config.N, most)
	}
	initiators, err := c.Workload.Initiators.Of(chance.Dice(c.Seed), c.Config.N)
	if err != nil {
		return err
	}
	s := &explore.Schedule{Spec: c.row, Config: c.Config}
	for _, id := range initiators {
		s.Steps = append(s.Steps, explore.Step{What: explore.StepCampaign, Node: id})
	}
	s.Steps = append(s.Steps, explore.Step{What: explore.StepRest})
	report := newReport(a.stdout)
	report.printf("%s\n\n", strings.Join(append([]string{report.palette.paint(bold, c.row.Name),
		english.Count(c.Config.N, "node", "nodes")}, c.Config.Given()...), ", "))
	first, err := report.tellElection(s, nil, "The initiators campaign: "+string(c.initiatorsText()))
	if err != nil {
		return err
	}
	leader := leaderOf(first.History)
	if leader == nodes.None || c.row.Live&nodes.NoCrash != 0 || c.Config.N == 1 {
		return nil
	}
	s.Steps = append(s.Steps, explore.Step{What: explore.StepCrash, Node: leader},
		explore.Step{What: explore.StepRest})
	_, err = report.tellElection(s, first, fmt.Sprintf("The leader, node %d, crashes", leader))
	return err
}

// initiatorsText names who campaigns.
func (c *benchCall) initiatorsText() workload.Initiators {
	if c.Workload.Initiators == "" {
		return workload.AllInitiate
	}
	return c.Workload.Initiators
}

// tellElection plays a schedule, and tells what happens after what was told before; nil: nothing was.
func (p *report) tellElection(s *explore.Schedule, before *explore.Replayed, title string) (*explore.Replayed,
	error) {
	played, err := explore.Replay(s)
	if err != nil {
		return nil, fmt.Errorf("--explain: %w: a node that draws at random draws the first of its choices here, "+
			"perhaps the same for ever: simulate %s, or write a schedule for simulate --replay", err, s.Spec.Name)
	}
	codec, told := s.Spec.Codec(), 0
	sent := make([]uint64, codec.Kinds())
	add := func(of *explore.Replayed, sign uint64) {
		for kind, k := range history.Sum(of.History.Logs).Kinds[:codec.Kinds()] {
			sent[kind] += sign * k.Sent
		}
	}
	add(played, 1)
	if before != nil {
		told = len(before.Story)
		add(before, ^uint64(0)) // minus one
	}
	p.printf("%s\n", title)
	for i, line := range played.Story[told:] {
		p.printf("%4d  %s\n", i+1, line)
	}
	var counts []string
	for kind, n := range sent {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, codec.Name(kind)))
		}
	}
	p.printf("      messages: %s\n\n", english.List(counts))
	if v := played.Violation; v != nil {
		p.printf("%s\n", v.Says)
	}
	return played, nil
}

// leaderOf returns who says at the end of a history that it leads; None: nobody does.
func leaderOf(h *history.History) nodes.ID {
	leader := nodes.None
	for _, e := range h.Events {
		switch id := nodes.ID(int32(e.Count)); {
		case e.Kind != history.Elected:
		case id == e.Node:
			leader = id
		case leader == e.Node:
			leader = nodes.None
		}
	}
	return leader
}
