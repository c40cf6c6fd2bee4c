package commands

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/internal/chance"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
	"turnstile/nodes/workload"
)

const electHelp = `Let nodes elect leaders, in a process each, and judge which node led when.

It is short for bench with a scheme of election. On virtual time: orchestrator simulate --algo SCHEME.

Exit status: 0 valid, 1 violated or a --require not met, 2 inconclusive, 64 bad usage.`

const electMore = `When the run begins, the initiators campaign. Later elections depend on the faults: crash
the leader, cut nodes off from each other, stop processes. A node is a leader only if it declares itself one.
The report has the times of elections and of their phases, and how long no node led, or two or more.`

const electExample = `  orchestrator elect --algo bully -n 9
  orchestrator elect --algo bully -n 9 --plan leader-crashes
  orchestrator elect --service etcd-election -n 3 --pause leader --at 1s --for 2s
  orchestrator elect --algo raft-election -n 5 --cut 0-1/2-4 --at 1s --for 2s --duration 5s
  orchestrator elect --algo bully -n 4 --initiators lowest --explain --diagram bully.svg
  orchestrator elect --algo chang-roberts -n 32 --ids random:7 --initiators random:3`

func electCommand(k known) Command {
	c := &benchCall{runCommand: electRuns(k)}
	c.setup.Set = "elect"
	return Command{
		Name:    "elect",
		Short:   "Let nodes elect leaders, measure and judge the elections",
		Help:    electHelp,
		More:    electMore,
		Example: electExample,
		Options: func(cmd *cobra.Command) {
			c.addTo(cmd)
			common(cmd.Flags(), "initiators", "explain", "diagram")
		},
		Check: c.resolve,
		Run:   c.run,
	}
}

// checkExplained checks --explain, --diagram and --title.
func (c *benchCall) checkExplained() error {
	switch {
	case !c.explain && c.picture != "":
		return errors.New("--diagram draws the elections that --explain prints: add --explain, or make the run " +
			"and draw it by the command diagram")
	case !c.explain:
		return checkTitle(c.title, "")
	case !slices.Contains(electable, c.Problem):
		return fmt.Errorf("--explain is for elections, and %s %s", c.Spec.Name, c.Problem.Misplaced)
	case len(c.required.all) > 0:
		return errors.New("--explain starts no run, so that --require has no figures: leave it out")
	case c.required.junit != "":
		return errors.New("--explain starts no run, so that --junit has no verdict: leave it out")
	}
	if len(c.Faults) > 0 {
		return errors.New("--explain prints an election without faults, and one after a crash of the leader: " +
			"leave out the faults, or write a schedule for simulate --replay")
	}
	const most = 32
	if c.Config.N > most {
		return fmt.Errorf("--explain: %d nodes would print too much to read: take up to %d", c.Config.N, most)
	}
	return checkTitle(c.title, c.picture)
}

// tellElections prints an election message by message, and draws it if --diagram names a file. It prints the
// election that the initiators begin and, if the scheme tolerates crashes, the election after a crash of the
// leader. Messages arrive in the order in which they were sent. Timers run out when no message is on its way.
func (c *benchCall) tellElections(w io.Writer) error {
	initiators, err := c.Workload.Initiators.Of(chance.Dice(c.Seed), c.Config.N)
	if err != nil {
		return err
	}
	s := &replay.Schedule{Spec: c.Spec, Config: c.Config}
	for _, id := range initiators {
		s.Steps = append(s.Steps, replay.Step{What: replay.StepCampaign, Node: id})
	}
	s.Steps = append(s.Steps, replay.Step{What: replay.StepRest})
	fmt.Fprintf(w, "%s\n\n", strings.Join(append([]string{
		terminal.PaletteFor(w).Paint(terminal.Bold, c.Spec.Name),
		english.Count(c.Config.N, "node", "nodes")}, c.Config.Given()...), ", "))
	first, err := tellElection(w, s, nil, fmt.Sprintf("The initiators campaign: %s",
		cmp.Or(c.Workload.Initiators, workload.AllInitiate)))
	if err != nil {
		return err
	}
	leaders := leadership.New(c.Config, c.Spec.Elector)
	for _, e := range first.History.Events {
		leaders.Add(e)
	}
	leader := leaders.Agreed()
	picture := "an election of " + english.Count(c.Config.N, "node", "nodes")
	if leader == nodes.None || c.Spec.Live&nodes.NoCrash != 0 || c.Config.N == 1 {
		return c.drawElections(picture, s)
	}
	s.Steps = append(s.Steps, replay.Step{What: replay.StepCrash, Node: leader},
		replay.Step{What: replay.StepRest})
	if _, err = tellElection(w, s, first, fmt.Sprintf("The leader, node %d, crashes", leader)); err != nil {
		return err
	}
	return c.drawElections(fmt.Sprintf("%s, and the next after the leader, node %d, has crashed", picture,
		leader), s)
}

// drawElections draws the elections of a schedule, if --diagram names a file.
func (c *benchCall) drawElections(name string, s *replay.Schedule) error {
	if c.picture == "" {
		return nil
	}
	d := diagramCall{pictureCall: pictureCall{out: c.picture, title: c.title},
		instead: "take fewer nodes, or fewer --initiators"}
	return d.drawInto(name, s)
}

// tellElection plays a schedule, and prints its story. If before is not nil, the story begins with that of
// before, which is left out.
func tellElection(w io.Writer, s *replay.Schedule, before *replay.Played, title string) (*replay.Played,
	error) {
	played, err := replay.Play(s)
	if err != nil {
		return nil, fmt.Errorf("--explain: %w: every random draw has its first value here, so that nodes may tie "+
			"for ever: simulate %s, or write a schedule for simulate --replay", err, s.Spec.Name)
	}
	codec, told := s.Spec.Codec(), 0
	sent := make([]uint64, codec.Kinds())
	add := func(of *replay.Played, sign uint64) {
		for kind, k := range history.Sum(of.History.Logs).Kinds[:codec.Kinds()] {
			sent[kind] += sign * k.Sent
		}
	}
	add(played, 1)
	if before != nil {
		told = len(before.Story)
		add(before, ^uint64(0)) // -1 modulo 2^64: subtracts
	}
	fmt.Fprintf(w, "%s\n", title)
	for i, line := range played.Story[told:] {
		writeWrapped(w, fmt.Sprintf("%4d  ", i+1), line)
	}
	var counts []string
	for kind, n := range sent {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, codec.Name(kind)))
		}
	}
	fmt.Fprintf(w, "      messages: %s\n\n", english.List(counts))
	if v := played.Violation; v != nil {
		fmt.Fprintf(w, "%s\n", v.Says)
	}
	return played, nil
}
