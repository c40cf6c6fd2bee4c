package election

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The heartbeats of a leader that needs a majority: see bullyMajority.

// lapseOption is how long a leader goes on while no majority answers it.
var lapseOption = nodes.Option{Name: "lapse", Default: "250ms",
	Usage: "how long a leader goes on without answers of a majority",
	Shows: lapsing(""),
	Check: func(c nodes.Config, value string) error {
		if err := algorithm.CheckTime(value, time.Millisecond, time.Minute, "250ms"); err != nil {
			return err
		}
		lapse, _ := time.ParseDuration(value)
		if answer := c.Duration(answerOption); lapse < 2*answer {
			return fmt.Errorf("%v is less than twice the time to wait for an answer, %v, so that a leader would give "+
				"way while answers are on their way: take %v or more", lapse, answer, 2*answer)
		}
		return nil
	}, Bound: &nodes.TimeoutBound{Suits: func(c nodes.Config, _ nodes.Delays) time.Duration {
		return 5 * c.Duration(answerOption) / 2
	}}}

// lapseBeats is how many heartbeats a leader sends within lapseOption.
const lapseBeats = 5

// tick sends the heartbeat of a leader, or makes it give way if no majority answers.
func (b *bullyMajority) tick(env *nodes.Env) {
	b.round++
	heard := 1
	peers := env.Peers()
	for id := range peers.All() {
		silent := b.round - b.heard[id]
		if silent < lapseBeats {
			heard++
		}
		if b.second && silent > 1 {
			env.Send(id, secondAsk{b.round})
		}
	}
	if heard < b.quorum {
		b.elect(env)
		return
	}
	env.Broadcast(majorityBeat{b.epoch, b.round})
	env.SetTimer(nodes.Timer{Kind: majorityTick}, b.beat, b.beat)
}

// heed answers a heartbeat. A leader that has missed a higher epoch learns it from the answer; if this node
// has missed COORDINATOR, it learns the leader from the heartbeat. A node higher than the leader takes over.
func (b *bullyMajority) heed(env *nodes.Env, from nodes.ID, m majorityBeat) {
	if m.Epoch >= b.epoch {
		b.learn(env, m.Epoch)
		switch {
		case from > env.Self():
			b.follow(env, from)
		case b.mayLead(env):
			b.Campaign(env)
		}
	}
	env.Send(from, majorityHere{b.epoch, m.Round})
}

// hear takes the answer to a heartbeat.
func (b *bullyMajority) hear(env *nodes.Env, from nodes.ID, epoch uint64, round uint32) {
	b.learn(env, epoch)
	if epoch == b.epoch {
		b.heard[from] = max(b.heard[from], round)
	}
}

// lapsing states for how long an old leader that is cut off leads beside the new one.
func lapsing(with string) []nodes.Shown {
	cut := nodes.Shown{Figure: "two leaders", With: with, For: 5 * time.Second,
		Faults: []string{"cut: 0-3/4, at: 1s, for: 3s"}}
	short, long := cut, cut
	short.Value, short.Most = "250ms", 0.1
	long.Value, long.Least, long.Most = "1s", 0.2, 1
	return []nodes.Shown{short, long}
}
