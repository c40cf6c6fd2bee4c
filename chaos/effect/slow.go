package effect

import (
	"errors"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Slow stops processes repeatedly, for a share of the time.
type Slow struct {
	plain
	Who   Target `yaml:"slow"`
	Share Share  `yaml:"share"`
}

var slow = Kind{Key: "slow", Layer: ofProcesses,
	Says:    "processes stand still for a share of the time, again and again",
	Example: "slow: 1, share: 50%", Breaks: nodes.NoPause | nodes.Timing,
	Zero: new(Slow), Turns: turnSlow,
	Flag: "have `nodes` stand still again and again",
	More: []Key{{Name: "share", Says: "the `share` of time for which --slow stops the nodes",
		NoZero: "would change nothing: write a share of the time, as in share: 50%"}}}

func (s *Slow) role() port.Role { return s.Who.Role }
func (s *Slow) more() []string  { return []string{"by " + s.Share.String()} }

func (s *Slow) Check(time.Duration, bool) (string, error) {
	if s.Share > 0 && s.Share < 1 {
		return "", nil
	}
	return "share", errors.New("slow takes the share of the time that the process stands still, " +
		"as in share: 50%")
}

// slowPeriod is the time from one stop of a slow process to the next.
const slowPeriod = 20 * time.Millisecond

// Strike does nothing: see turnSlow.
func (*Slow) Strike(Cluster, port.Member) error { return nil }

func (*Slow) Undo(c Cluster, m port.Member) error { return c.Continue(m) }

// turnSlow stops members that are up, or lets them go on, and returns for how long.
func turnSlow(e Effect, c Cluster, of []port.Member, stop bool) (time.Duration, error) {
	s := e.(*Slow)
	share, act := 1-float64(s.Share), c.Continue
	if stop {
		share, act = float64(s.Share), c.Stop
	}
	for _, m := range of {
		if !c.Up(m) {
			continue
		}
		if err := act(m); err != nil {
			return 0, err
		}
	}
	return time.Duration(share * float64(slowPeriod)), nil
}
