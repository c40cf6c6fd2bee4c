package detector

import (
	"fmt"
	"strconv"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// The options of swim, beside the period.
// An ack is to come within a third of a period, so that there is time for the ping of others as well: the
// paper has the period be three times as long as a message and its answer take, at least.
var (
	swimPeriodOption = nodes.Option{Name: periodOption.Name, Default: periodOption.Default,
		Usage: periodOption.Usage, Check: periodOption.Check, Bound: &nodes.TimeoutBound{Formula: "2T",
			Covers: func(_ nodes.Config, d nodes.Delays) time.Duration { return 2 * d.Message },
			Suits:  func(_ nodes.Config, d nodes.Delays) time.Duration { return 10 * d.Message }}}
	swimTimeoutOption = nodes.Option{Name: "timeout", Default: "30ms", Check: checkSwimTimeout,
		Usage: "how long a member waits for an ack before it asks others to ping, a third of the period at most",
		Bound: &nodes.TimeoutBound{
			Suits: func(_ nodes.Config, d nodes.Delays) time.Duration { return 5 * d.Message / 2 }}}
	swimKOption = nodes.Option{Name: "k", Default: "3", Check: checkCount(0, 100),
		Usage: "how many others are asked to ping a member that does not answer"}
	swimSuspicionOption = nodes.Option{Name: "suspicion", Default: "2", Check: checkCount(0, 100),
		Usage: "periods, times ⌈log₂ N⌉, to refute a suspicion; 0: who is suspected is declared faulty at once"}
	swimHealthOption = nodes.Option{Name: "health", Default: "8", Check: checkCount(0, 100),
		Usage: "by how many periods, at most, a member that hears too little makes its own period longer"}
	swimOrderOption = nodes.Option{Name: "order", Default: "round-robin", Usage: "which member is pinged next",
		Values: []string{"round-robin", "random"}}
	swimInStepOption = nodes.Option{Name: "in-step", Default: "no", Values: []string{"no", "yes"},
		Usage: "whether the periods of all members begin at the same time"}
)

// checkSwimTimeout says what is wrong with a timeout. In a period there must be time for a ping, for a ping
// by others, and for what they answer.
func checkSwimTimeout(c nodes.Config, value string) error {
	if err := row.CheckTime(value, time.Nanosecond, time.Hour, "30ms"); err != nil {
		return err
	}
	timeout, _ := time.ParseDuration(value)
	if period := c.Duration(periodOption); timeout > period/3 {
		return fmt.Errorf("%v is more than a third of the period of %v, so that others would ask too late: take "+
			"%v at most, or a longer period", timeout, period, period/3)
	}
	return nil
}

// checkCount returns a check of an option that is a number from least to most.
func checkCount(least, most int) func(nodes.Config, string) error {
	return func(_ nodes.Config, value string) error {
		switch n, err := strconv.Atoi(value); {
		case err != nil:
			return fmt.Errorf("%q is no number, such as %d", value, least+1)
		case n < least || n > most:
			return fmt.Errorf("%d is not from %d to %d", n, least, most)
		}
		return nil
	}
}

// count returns the value of an option that is a number.
func count(c nodes.Config, o nodes.Option) int {
	n, _ := strconv.Atoi(c.Value(o)) // the options are valid
	return n
}

func swimOf(c nodes.Config) *swim {
	return &swim{period: c.Duration(periodOption), timeout: c.Duration(swimTimeoutOption),
		k: count(c, swimKOption), worst: count(c, swimHealthOption),
		suspicion: uint32(count(c, swimSuspicionOption)),
		random:    c.Value(swimOrderOption) == "random", inStep: c.Value(swimInStepOption) == "yes"}
}

// swimDetects returns after what time all members know of a crash, or have taken a wrong suspicion
// back, where messages take no time beside a period. In round-robin order each member pings each within two
// rounds; in random order that is likely within four times as many, and then gossip has told long before. A
// probe of somebody who was well takes a period, a suspicion its limit, and a member that feels unwell to
// the highest score takes so many periods of extra length until it is well.
func swimDetects(c nodes.Config) time.Duration {
	rounds := 2 * c.N
	if c.Value(swimOrderOption) == "random" {
		rounds *= 4
	}
	health := count(c, swimHealthOption)
	periods := rounds + 1 + swimLimit(c) + health*(health+1)/2
	return time.Duration(periods) * c.Duration(periodOption)
}

// swimLimit returns how many periods a suspected member has to refute it.
func swimLimit(c nodes.Config) int { return count(c, swimSuspicionOption) * int(logOf(c.N)) }
