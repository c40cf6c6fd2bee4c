package effect

import (
	"errors"
	"fmt"
	"time"

	"turnstile/nodes"
)

// Kill has processes killed and, after the time that it lasts, restarted.
type Kill struct {
	plain
	Who    Target `yaml:"kill"`
	Forget bool   `yaml:"forget"` // what they have saved
	// when it has saved or sent so often because of one input, before it does so again; 0: between two inputs
	MidInput int `yaml:"mid-input"`
}

var kill = Kind{Key: "kill", Layer: ofProcesses,
	Says:    "processes are killed (SIGKILL), and after the time that it lasts restarted",
	Example: "kill: holder", Breaks: nodes.NoCrash, Zero: new(Kill),
	Flag: "have `nodes` killed, as in 2, 0-1, random, holder or token (see plans)",
	More: []Key{{Name: "forget", Says: "have who was killed forget what it saved"},
		{Name: "mid-input",
			Says:       "have --kill come in the middle of an input, after so `many` of its saves and messages",
			NoZero:     "would be before the input: write 1 for after the first save or message, or leave it out",
			NoZeroFlag: "would be before the input: write 1 for after the first save or message"}}}

func (*Kill) ForGood() bool { return true }

func (k *Kill) more() (more []string) {
	if k.MidInput > 0 {
		more = append(more, fmt.Sprintf("in the middle of an input, after %d of what it saves and sends",
			k.MidInput))
	}
	if k.Forget {
		more = append(more, "with amnesia")
	}
	return more
}

func (k *Kill) Check(lasts time.Duration, waits bool) (string, error) {
	switch who := &k.Who; {
	case k.MidInput < 0:
		return "mid-input", fmt.Errorf("mid-input takes how often the node has saved or sent because of the "+
			"input, from 1, and not %d", k.MidInput)
	case k.MidInput > 0 && waits:
		return "when", fmt.Errorf("%s: that is a moment of its own: leave out when, or mid-input", What(k))
	case k.MidInput > 0 && (len(who.Nodes) > 1 || who.Many > 1 ||
		who.Word != "" && who.Word != "random" && who.Word != "coordinator"):
		return "kill", fmt.Errorf("%s: mid-input takes one node that is known before, as in kill: 2, "+
			"kill: random or kill: coordinator", What(k))
	case k.Forget && lasts == 0:
		return "forget", errors.New("who forgets comes up again: say after how long, as in for: 500ms")
	}
	return "", nil
}

func (*Kill) Strike(c Cluster, id nodes.ID) error { return c.Kill(id) }

func (k *Kill) Undo(c Cluster, id nodes.ID) error {
	if c.Up(id) {
		return nil
	}
	return c.Restart(id, k.Forget)
}
