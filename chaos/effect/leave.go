package effect

import (
	"errors"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Leave has clients of a service stop in order, and start again when the fault is healed.
type Leave struct {
	plain
	Who    Target        `yaml:"leave"`
	Linger time.Duration `yaml:"linger"` // how long they go on after they have given up what they had
}

var leaves = Kind{Key: "leave", Layer: ofProcesses,
	Says:    "clients of a service release or resign, end, and come back after the time of `for`",
	Example: "leave: holder, for: 1s", Breaks: nodes.NoCrash, Downs: true, Zero: new(Leave),
	Flag: "have `nodes`, which are clients of a service, stop in order, as in 2, holder or leader",
	More: []Key{{Name: "linger", Says: "how long clients of --leave go on inside, or lead on, after they have " +
		"released or resigned",
		NoZero: "would be no time: leave it out", NoZeroFlag: "would be no time: leave it out"}}}

func (l *Leave) role() port.Role { return l.Who.Role }
func (*Leave) ForGood() bool     { return true }

func (l *Leave) more() (more []string) {
	if l.Linger > 0 {
		more = append(more, "and lingers for "+l.Linger.String())
	}
	return more
}

func (l *Leave) Check(time.Duration, bool) (string, error) {
	if l.Linger < 0 {
		return "linger", errors.New("linger takes how long the clients go on, as in linger: 2s")
	}
	return "", nil
}

func (l *Leave) Strike(c Cluster, m port.Member) error { return c.Leave(m, l.Linger) }

// Undo starts a member again, once it has left.
func (*Leave) Undo(c Cluster, m port.Member) error { return c.Start(m, false) }
