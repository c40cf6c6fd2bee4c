package effect

import "turnstile/nodes"

// Pause has processes stand still.
type Pause struct {
	plain
	Who Target `yaml:"pause"`
}

var pause = Kind{Key: "pause", Layer: ofProcesses, Says: "processes stand still (SIGSTOP)",
	Example: "pause: 2", Breaks: nodes.NoPause | nodes.Timing, Holds: true,
	Zero: new(Pause),
	Flag: "have `nodes` stand still for some time, as in 2, 0-1 or holder"}

func (*Pause) Strike(c Cluster, id nodes.ID) error { return c.Stop(id) }
func (*Pause) Undo(c Cluster, id nodes.ID) error   { return c.Proceed(id) }
