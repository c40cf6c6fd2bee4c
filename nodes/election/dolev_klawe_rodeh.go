package election

import "turnstile/nodes"

var dolevKlaweRodehRow = nodes.Spec{
	Info: nodes.Info{
		Name: "dolev-klawe-rodeh", Aliases: []string{"peterson-ring"}, Family: "ring",
		Source: "D. Dolev, M. Klawe and M. Rodeh, An O(n log n) unidirectional distributed algorithm for " +
			"extrema finding in a circle, J. Algorithms 3(3), 1982; G. L. Peterson, An O(n log n) " +
			"unidirectional algorithm for the circular extrema problem, TOPLAS 4(4), 1982, its basic form",
		Summary: "In each round a candidate learns the values of the two candidates before it and goes on, " +
			"with the nearer one's, only if that is the highest of the three; whoever sees its own " +
			"identity come back leads.",
	},
	New:       func(c nodes.Config) nodes.Machine { return &dolevKlaweRodeh{ringNode: newRingNode(c)} },
	Messages:  []nodes.Kind{{Zero: dolevValue{}}, {Zero: ringElected{}}},
	Options:   []nodes.Option{idsOption},
	Safe:      nodes.NoDuplication | nodes.NoAmnesia,
	Live:      nodes.NoLoss | nodes.NoDuplication | nodes.FIFO | nodes.NoCrash | nodes.NoAmnesia,
	Published: dolevKlaweRodehClaims,
	Leads:     &nodes.Leadership{Wins: nodes.HighestWins, Rank: rankInRing, Partitions: ringPartitions},
	Faults: silent(
		under(recovers|blocks, "it needs links that keep messages in order (Dolev, Klawe and Rodeh "+
			"1982): a value that overtakes others is dropped as one of another round, and the election does "+
			"not end (B)", "overtaking-election"),
		under(recovers|breaks, "rounds are numbered, so a copy is recognized (L), unless it comes to a node "+
			"that has given up meanwhile and passes it on (X)", "copied-election")),
}

// dolevKlaweRodeh is the basic form of Peterson's algorithm, which is that of Dolev, Klawe and Rodeh, with an
// announcement. Messages go one way only.
//
// A candidate stands for a value, at first its own identity. In each round it sends that, gets the value of
// the candidate before it, sends the higher of the two, and so gets the higher one of the two candidates
// before it. It goes on, with the value of the first, if that is a local maximum, and passes values on from
// then on otherwise. So of two neighbours one gives up. The highest identity is always a local maximum: it
// moves on by one candidate each round until it comes to its owner, and no other passes the candidate that
// has it.
//
// The two messages of a round are told apart by Second, and rounds by their numbers, so one that comes out of
// its order is dropped: then nobody leads, rather than two. But a copy that comes when its receiver passes
// values on goes to the next candidate, which takes it for a value of its neighbour: that may give two
// leaders.
type dolevKlaweRodeh struct {
	ringNode
	active bool   // it is a candidate
	round  uint32 // from 1
	value  uint32 // that it stands for
	first  uint32 // the value of the candidate before it
	second bool   // it has that, and waits for the second
}

// dolevValue is what a candidate has to say in a round.
type dolevValue struct {
	Election, Round uint32
	Second          bool
	Value           uint32
}

func (d *dolevKlaweRodeh) Campaign(env *nodes.Env) {
	if d.begin(env) {
		d.stand(env, 1, d.identity)
	}
}

// stand begins a round as a candidate for a value.
func (d *dolevKlaweRodeh) stand(env *nodes.Env, round, value uint32) {
	d.active, d.round, d.value, d.second = true, round, value, false
	env.Send(d.next, dolevValue{d.election, round, false, value})
}

func (d *dolevKlaweRodeh) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case dolevValue:
		current, fresh := d.takes(env, m.Election)
		if fresh {
			d.active = false
			if m.Round == 1 && !m.Second { // always, unless this node has forgotten that it took part
				d.stand(env, 1, d.identity)
			}
		}
		switch {
		case !current:
		case m.Value == d.identity:
			d.win(env)
		case !d.active:
			env.Send(d.next, m)
		case m.Round == d.round && m.Second == d.second:
			d.compare(env, m.Value)
		}
	case ringElected:
		d.hear(env, m)
	default:
		nodes.Unexpected(d, m)
	}
}

// compare takes in the first or the second value of a round.
func (d *dolevKlaweRodeh) compare(env *nodes.Env, value uint32) {
	switch {
	case !d.second:
		d.first, d.second = value, true
		env.Send(d.next, dolevValue{d.election, d.round, true, max(d.value, value)})
	case d.first >= max(d.value, value):
		d.stand(env, d.round+1, d.first)
	default:
		d.active = false
	}
}
