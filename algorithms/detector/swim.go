package detector

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var swimAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "swim", Kind: nodes.Detection,
		New: func(c nodes.Config) nodes.Machine { return swimOf(c) },
		Timers: []nodes.TimerName{{Kind: tick.Kind, Name: "period"}, {Kind: swimNoAck, Name: "no-ack"},
			{Kind: swimNoHelp, Name: "no-help", PerPeer: true}},
		Messages: []nodes.MessageKind{
			{Zero: swimPing{}, Heartbeat: true},
			{Zero: swimPingReq{}, Heartbeat: true},
			{Zero: swimPingAck{}, Heartbeat: true},
			{Zero: swimPingNack{}, Heartbeat: true},
		},
		Options: []nodes.Option{swimPeriodOption, swimTimeoutOption, swimKOption, swimSuspicionOption,
			swimHealthOption, swimOrderOption, swimInStepOption},
		Grace: swimDetects,
		Live:  nodes.NoLoss | nodes.NoPause | nodes.Timing,
	},
	Aliases: []string{"gossip"}, Family: "gossip",
	Source: "Das, Gupta and Motivala, SWIM: scalable weakly-consistent infection-style process group " +
		"membership protocol, DSN 2002; local health: Dadgar, Phillips and Currey, Lifeguard: local " +
		"health awareness for more accurate failure detection, DSN-W 2018",
	Summary: "Every node pings one other each period, asks k others to ping it too if it is silent, and " +
		"gossips.",
	// If several members are down, helpers may be down as well. Health scores then rise, and periods grow.
	Detector: &algorithm.Detection{Tells: func(c nodes.Config, message time.Duration, down int) time.Duration {
		if down > 1 {
			return time.Duration(1+count(c, swimHealthOption)) * swimDetects(c)
		}
		return swimDetects(c) + message
	}, Shows: swimAccuracy},
	Published: swimClaims,
}

// swim is the detector of A. Das, I. Gupta and A. Motivala, "SWIM: scalable weakly-consistent
// infection-style process group membership protocol", DSN 2002, with the local health multiplier of A.
// Dadgar, J. Phillips and J. Currey, "Lifeguard: local health awareness for more accurate failure
// detection", DSN-W 2018.
//
// Each period a member pings one other member. If no ack comes within the timeout, it asks k others to ping
// that member (ping-req), and they pass its ack on. If no ack has come when the period ends, it suspects
// the member; if the suspicion is not refuted within some periods, it declares the member faulty. So a
// member sends a ping and about one ack per period, however many members there are.
//
// Suspicions, refutations and declarations travel on pings and acks, at most swimMost on each. A member that
// hears of its own suspicion, in its current incarnation, begins the next one and gossips that it is alive.
// If two updates about a member conflict, the higher incarnation wins, and within an incarnation the worse
// state.
//
// A suspicion of the protocol does not reach the algorithm beside it. The algorithm hears of a member when
// the member is declared faulty, and again when the member is known to be alive.
//
// Differences from the paper: members neither join nor leave, so a faulty member stays a member. It is pinged
// like the others, but nobody else is asked to ping it, and an alive update of a higher incarnation revokes
// the declaration. A restarted node has a higher incarnation than before the crash. A message to a suspected
// or faulty member tells it first that it is suspected or faulty, which Lifeguard calls the buddy system.
type swim struct {
	period, timeout time.Duration
	k, worst        int    // members asked for an indirect ping; the highest health score
	suspicion       uint32 // periods from a suspicion to the declaration, per ⌈log₂ N⌉
	random, inStep  bool

	now         uint32 // how many periods have begun
	incarnation uint64 // its own: the process's incarnation and the count of suspicions it refuted, 32 bits each
	health      int    // Lifeguard's score: 0 is well; periods and timeouts are 1+health times as long
	members     []swimMember
	suspects    nodes.Set  // members suspected and not declared faulty
	order       []nodes.ID // all other members, in the order in which they are pinged
	at          int        // the index of the next member in the field order
	news        []nodes.ID // members to gossip about

	probe   uint64    // the number of the current probe
	target  nodes.ID  // the pinged member; None: no probe
	acked   bool      // the target has answered
	asked   bool      // others were asked to ping the target
	helpers nodes.Set // members asked in this probe that have sent no nack
}

// A swimMember is what a member knows of another one.
type swimMember struct {
	state       uint8
	incarnation uint64
	since       uint32 // the period in which the state changed
	left        uint8  // how many more times the state is to be gossiped
	helps       uint64 // the probe for which it last asked this node to ping
}

// The states of a member. Within an incarnation the higher state wins.
const (
	swimAlive uint8 = iota
	swimSuspect
	swimFaulty
)

const (
	swimMost   = 6 // updates that a message carries, beside one about its receiver
	swimSpread = 3 // λ of the paper: an update is gossiped λ⌈log₂ N⌉ times by each member
)

type (
	// swimPing asks for an ack. For is the probing member, Probe the number of its probe.
	swimPing struct {
		For    nodes.ID
		Probe  uint64
		Gossip swimGossip
	}
	// swimPingReq asks its receiver to ping Target for the probe Probe of its sender.
	swimPingReq struct {
		Target nodes.ID
		Probe  uint64
		Gossip swimGossip
	}
	// swimPingAck answers a ping, and goes back the way that the ping came.
	swimPingAck struct {
		For    nodes.ID
		Probe  uint64
		Gossip swimGossip
	}
	// swimPingNack says that its sender has pinged the target and has no ack yet: Lifeguard's nack.
	swimPingNack struct {
		Probe  uint64
		Gossip swimGossip
	}
	// swimGossip is in every message: the incarnation of its sender, and updates.
	swimGossip struct {
		Incarnation uint64
		Updates     []swimUpdate
	}
	// swimUpdate says that Member was in State in its Incarnation.
	swimUpdate struct {
		Member      nodes.ID
		State       uint8
		Incarnation uint64
	}
)

// The timers besides tick.
const (
	swimNoAck  nodes.TimerKind = iota + 1 // the target has not answered in time
	swimNoHelp                            // the member that was pinged for another one has not answered in time
)

// Start sends the first probe at a random moment of the first period, or at its end with the option in-step.
func (s *swim) Start(env *nodes.Env) {
	s.incarnation = uint64(env.Incarnation()) << 32
	s.probe = s.incarnation // acks to an earlier life of this node do not match
	s.members, s.target = make([]swimMember, env.Total()), nodes.None
	for id := range nodes.ID(env.Total()) {
		if id != env.Self() {
			s.order = append(s.order, id)
		}
	}
	first := time.Duration(0)
	if s.inStep {
		first = s.period
	}
	env.SetTimer(tick, first, s.period)
}

func (s *swim) Timeout(env *nodes.Env, t nodes.Timer) {
	switch t.Kind {
	case swimNoAck:
		s.askOthers(env)
	case swimNoHelp:
		env.Send(t.Peer, swimPingNack{s.members[t.Peer].helps, s.gossip(t.Peer)})
	default:
		s.now++
		s.conclude(env)
		s.declare(env)
		s.ping(env)
		env.SetTimer(tick, s.unwell(s.period), s.unwell(s.period))
	}
}

// unwell returns d, scaled by the health score.
func (s *swim) unwell(d time.Duration) time.Duration { return time.Duration(1+s.health) * d }

// conclude ends the probe of the period that is over.
func (s *swim) conclude(env *nodes.Env) {
	if s.target == nodes.None {
		return
	}
	switch target := &s.members[s.target]; {
	case s.acked:
		s.feel(-1)
	case target.state == swimFaulty: // it is known to be faulty
	default:
		state := swimSuspect
		if s.suspicion == 0 {
			state = swimFaulty
		}
		s.learn(env, swimUpdate{s.target, state, target.incarnation})
		if s.asked {
			s.feel(s.helpers.Len()) // a missing nack suggests that this member hears too little
		} else {
			s.feel(1)
		}
	}
}

// feel adds to the health score, within its bounds.
func (s *swim) feel(worse int) { s.health = min(max(0, s.health+worse), s.worst) }

// declare declares the members faulty that have not refuted a suspicion in time.
func (s *swim) declare(env *nodes.Env) {
	for id := range s.suspects.All() {
		if m := &s.members[id]; s.now-m.since >= s.suspicion*logOf(env.Total()) {
			s.learn(env, swimUpdate{id, swimFaulty, m.incarnation})
		}
	}
}

// ping begins the probe of a period.
func (s *swim) ping(env *nodes.Env) {
	if len(s.order) == 0 {
		return
	}
	s.target, s.acked, s.asked = s.next(env), false, false
	s.helpers.Clear()
	s.probe++
	env.Send(s.target, swimPing{env.Self(), s.probe, s.gossip(s.target)})
	env.SetTimer(nodes.Timer{Kind: swimNoAck}, s.unwell(s.timeout), s.unwell(s.timeout))
}

// next returns the member to ping: a random one, or the next one of an order that is shuffled for each
// round. In that order each member is pinged within two rounds.
func (s *swim) next(env *nodes.Env) nodes.ID {
	if s.random {
		return s.order[env.Choose(len(s.order))]
	}
	at := s.at
	other := at + env.Choose(len(s.order)-at)
	s.order[at], s.order[other] = s.order[other], s.order[at]
	s.at = (at + 1) % len(s.order)
	return s.order[at]
}

// askOthers asks k random members to ping the target, unless the target is known to be faulty.
func (s *swim) askOthers(env *nodes.Env) {
	if s.members[s.target].state == swimFaulty {
		return
	}
	var able []nodes.ID
	for id := range s.members {
		if id := nodes.ID(id); id != env.Self() && id != s.target && s.members[id].state != swimFaulty {
			able = append(able, id)
		}
	}
	for i := range min(s.k, len(able)) {
		other := i + env.Choose(len(able)-i)
		able[i], able[other] = able[other], able[i]
		s.asked = true
		s.helpers.Add(able[i])
		env.Send(able[i], swimPingReq{s.target, s.probe, s.gossip(able[i])})
	}
}

func (s *swim) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case swimPing:
		s.hear(env, from, m.Gossip)
		env.Send(from, swimPingAck{m.For, m.Probe, s.gossip(from)})
	case swimPingReq:
		s.hear(env, from, m.Gossip)
		s.members[from].helps = m.Probe
		env.Send(m.Target, swimPing{from, m.Probe, s.gossip(m.Target)})
		env.SetTimer(nodes.Timer{Kind: swimNoHelp, Peer: from}, s.timeout, s.timeout)
	case swimPingAck:
		s.hear(env, from, m.Gossip)
		s.ack(env, m)
	case swimPingNack:
		s.hear(env, from, m.Gossip)
		if m.Probe == s.probe {
			s.helpers.Remove(from)
		}
	default:
		nodes.Unexpected(s, m)
	}
}

// ack takes an ack for this member's probe, or passes it on to the probing member.
func (s *swim) ack(env *nodes.Env, m swimPingAck) {
	switch {
	case m.For != env.Self():
		if s.members[m.For].helps == m.Probe {
			env.StopTimer(nodes.Timer{Kind: swimNoHelp, Peer: m.For})
		}
		env.Send(m.For, swimPingAck{m.For, m.Probe, s.gossip(m.For)})
	case m.Probe == s.probe:
		s.acked = true
		env.StopTimer(nodes.Timer{Kind: swimNoAck})
	}
}

// hear takes the gossip of a message. The message itself shows that its sender is alive.
func (s *swim) hear(env *nodes.Env, from nodes.ID, g swimGossip) {
	s.learn(env, swimUpdate{from, swimAlive, g.Incarnation})
	for _, u := range g.Updates {
		s.learn(env, u)
	}
}

// learn applies an update and gossips it if it is news. If it says that this member is not alive, the member
// refutes it with its next incarnation.
func (s *swim) learn(env *nodes.Env, u swimUpdate) {
	m := &s.members[u.Member]
	switch {
	case u.Member == env.Self():
		if u.State == swimAlive || u.Incarnation < s.incarnation {
			return
		}
		s.incarnation = u.Incarnation + 1
		s.feel(1)
		u = swimUpdate{u.Member, swimAlive, s.incarnation}
	case u.Incarnation < m.incarnation, u.Incarnation == m.incarnation && u.State <= m.state:
		return
	}
	was := m.state
	m.state, m.incarnation, m.since = u.State, u.Incarnation, s.now
	s.suspects.Remove(u.Member)
	if u.State == swimSuspect {
		s.suspects.Add(u.Member)
	}
	if m.left == 0 {
		s.news = slices.Insert(s.news, 0, u.Member) // new updates go out before those gossiped already
	}
	m.left = uint8(swimSpread * logOf(env.Total()))
	switch {
	case was != swimFaulty && u.State == swimFaulty:
		env.Suspect(u.Member)
	case was == swimFaulty && u.State != swimFaulty:
		env.Trust(u.Member)
	}
}

// gossip returns the gossip of a message to a member: first that member's own state, unless it is alive, and
// then the news, in turn.
func (s *swim) gossip(to nodes.ID) swimGossip {
	g := swimGossip{Incarnation: s.incarnation}
	if s.members[to].state != swimAlive {
		g.Updates = append(g.Updates, s.update(to))
	}
	taken := min(swimMost, len(s.news))
	for _, id := range s.news[:taken] {
		g.Updates = append(g.Updates, s.update(id))
		if m := &s.members[id]; m.left > 1 {
			m.left--
			s.news = append(s.news, id)
		} else {
			m.left = 0
		}
	}
	s.news = slices.Delete(s.news, 0, taken)
	return g
}

func (s *swim) update(id nodes.ID) swimUpdate {
	return swimUpdate{id, s.members[id].state, s.members[id].incarnation}
}

// logOf returns ⌈log₂ n⌉, and at least 1.
func logOf(n int) uint32 { return uint32(max(1, bits.Len(uint(n-1)))) }

// The options of swim, the period included. A member waits at most a third of it for an ack, which leaves
// time for the pings of others: in the paper a period is at least three round trips.
var (
	swimPeriodOption = nodes.Option{Name: periodOption.Name, Default: periodOption.Default,
		Usage: periodOption.Usage, Check: periodOption.Check,
		Shows: []nodes.Shown{{Value: "200ms", Than: "100ms", Figure: "messages sent", Least: 0.45, Most: 0.55}},
		Bound: &nodes.TimeoutBound{Formula: "2T",
			Covers: func(_ nodes.Config, d nodes.Delays) time.Duration { return 2 * d.Message },
			Suits:  func(_ nodes.Config, d nodes.Delays) time.Duration { return 10 * d.Message }}}
	swimTimeoutOption = nodes.Option{Name: "timeout", Default: "30ms", Check: checkSwimTimeout,
		Usage: "how long a member waits for an ack before it asks others to ping, a third of the period at most",
		Bound: &nodes.TimeoutBound{
			Suits: func(_ nodes.Config, d nodes.Delays) time.Duration { return 5 * d.Message / 2 }},
		Shows: []nodes.Shown{{Value: "10ms", Than: "30ms", Figure: "pingreq sent", Least: 2, Most: 100,
			Latency: "exponential:5ms", For: 10 * time.Second}}}
	swimKOption = nodes.Option{Name: "k", Default: "3", Check: checkCount(0, 100),
		Usage: "how many others are asked to ping a member that does not answer",
		Shows: []nodes.Shown{
			{Value: "0", Figure: "pingreq sent", Least: 0, Most: 0, For: 10 * time.Second,
				Faults: []string{"loss: 20%"}},
			{Value: "1", Than: "3", Figure: "pingreq sent", Least: 0.2, Most: 0.6, For: 10 * time.Second,
				Faults: []string{"loss: 20%"}},
			{Value: "3", Than: "0", Figure: "suspicions", Least: 0, Most: 0.5, With: "suspicion=0 health=0",
				For:    20 * time.Second,
				Faults: []string{"loss: 20%"}},
		}}
	swimSuspicionOption = nodes.Option{Name: "suspicion", Default: "2", Check: checkCount(0, 100),
		Usage: "time to refute a suspicion, in units of ⌈log₂ N⌉ periods; with 0 a suspect is faulty at once",
		Shows: []nodes.Shown{{Value: "8", Than: "2", Figure: "first suspicion", Least: 2, Most: 5,
			For:    6 * time.Second,
			Faults: []string{"kill: 4, at: 1ms"}}}}
	swimHealthOption = nodes.Option{Name: "health", Default: "8", Check: checkCount(0, 100),
		Usage: "greatest health score: a member that misses messages stretches its period up to 1+health times",
		Shows: []nodes.Shown{{Value: "0", Than: "8", Figure: "ping sent", Least: 1.5, Most: 10,
			For:    10 * time.Second,
			Faults: []string{"loss: 50%"}}}}
	swimOrderOption = nodes.Option{Name: "order", Default: "round-robin", Usage: "which member is pinged next",
		Values: []string{"round-robin", "random"},
		Shows: []nodes.Shown{{Value: "random", Than: "round-robin", Figure: "spread of ping", Least: 2,
			Most: 100, N: 8,
			For: 10 * time.Second}}}
	swimInStepOption = nodes.Option{Name: "in-step", Default: "no", Values: []string{"no", "yes"},
		Usage: "whether the periods of all members begin at the same time",
		Shows: []nodes.Shown{
			{Value: "yes", Figure: "ping sent", Least: 0, Most: 0, For: 90 * time.Millisecond},
			{Value: "no", Figure: "ping sent", Least: 1, Most: 5, For: 90 * time.Millisecond},
		}}
)

// checkSwimTimeout returns an error unless a period has time for a ping, the pings of others, and the acks.
func checkSwimTimeout(c nodes.Config, value string) error {
	if err := algorithm.CheckTime(value, time.Nanosecond, time.Hour, "30ms"); err != nil {
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
			return fmt.Errorf("%q is not a number, such as %d", value, least+1)
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

// swimDetects returns how long it takes until all members know of a crash, or have taken back a wrong
// suspicion, if messages take much less than a period. In round-robin order each member pings each other one
// within two rounds. In random order it likely does within eight rounds, and hears of it by gossip long
// before. A probe takes a period and a suspicion its limit. A member at the worst health score takes
// health·(health+1)/2 extra periods to recover.
func swimDetects(c nodes.Config) time.Duration {
	rounds := 2 * c.N
	if c.Value(swimOrderOption) == "random" {
		rounds *= 4
	}
	health := count(c, swimHealthOption)
	periods := rounds + 1 + swimLimit(c) + health*(health+1)/2
	return time.Duration(periods) * c.Duration(periodOption)
}

// swimAccuracy has what acks, helpers, refutations and gossip are for: a member that one other cannot reach
// is reached by helpers; one that stands still refutes its suspicion; and all hear of a crash from the first.
var swimAccuracy = []nodes.Shown{
	{Figure: "suspicions", Least: 0, Most: 0, Latency: "uniform:0s,2ms", For: 10 * time.Second},
	{Figure: "suspicions", Least: 0, Most: 0, With: "suspicion=0", For: 5 * time.Second,
		Faults: []string{"cut: 0/1"}},
	{Figure: "suspicions", Least: 0, Most: 0, For: 3 * time.Second,
		Faults: []string{"pause: 1, at: 500ms, for: 400ms"}},
	{Figure: "suspicions", Least: 15, Most: 15, N: 16, For: 4 * time.Second,
		Faults: []string{"kill: 1, at: 500ms"}},
	{Figure: "suspicions take", Least: 0.01, Most: 0.5, N: 16, For: 4 * time.Second,
		Faults: []string{"kill: 1, at: 500ms"}},
}

// swimLimit returns how many periods a suspected member has to refute the suspicion.
func swimLimit(c nodes.Config) int { return count(c, swimSuspicionOption) * int(logOf(c.N)) }

// swimClaims are the paper's figures for SWIM's load, and for how soon a crashed member is pinged. In
// section 3.1 each of n members pings a random one per period. If all periods begin together, somebody pings
// a given member with probability 1-(1-1/(n-1))^(n-1). Otherwise about one ping a period comes to each
// member, at any time.
var swimClaims = []algorithm.Claim{
	{Figure: algorithm.MessagesPerMember, Source: "a ping and an ack, for any N", Sizes: []int{8, 32, 128},
		Options: map[string]string{"in-step": "yes"},
		Value:   func(nodes.Config) algorithm.Range { return algorithm.Exactly(2) }},
	{Figure: algorithm.PeriodsToProbe, Source: "1/(1-(1-1/(N-1))^(N-1)), in step", Within: algorithm.Mean,
		Sizes: []int{4, 8, 32}, Options: map[string]string{"order": "random", "suspicion": "0", "in-step": "yes"},
		Value: func(c nodes.Config) algorithm.Range {
			n := float64(c.N - 1)
			return algorithm.Exactly(1 / (1 - math.Pow(1-1/n, n)))
		}},
	{Figure: algorithm.PeriodsToProbe, Source: "about 1, each member at its own time", Within: algorithm.Beside,
		Sizes: []int{8, 32}, Options: map[string]string{"order": "random", "suspicion": "0"},
		Value: func(nodes.Config) algorithm.Range { return algorithm.Exactly(1) }},
}
