package mutex

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"turnstile/nodes"
)

// A load says who asks when.
type load int

const (
	sequential load = iota // one request at a time, each from any node, after all has come to rest
	one                    // one node asks again and again
	saturated              // every node always wants in
	sporadic               // nodes ask at any time
)

var loads = []load{sequential, one, saturated, sporadic}

func (l load) String() string { return [...]string{"sequential", "one", "saturated", "sporadic"}[l] }

func (l load) cost(c nodes.Cost) nodes.Range {
	return [...]nodes.Range{c.Sequential, c.One, c.Saturated, c.Any}[l]
}

// options of a run. What they leave at zero is a network as good as one can be.
type options struct {
	seed      uint64
	load      load
	entries   int     // after which nobody asks any more
	reorder   bool    // messages of one link overtake each other
	duplicate float64 // the share of messages that arrive again, any time after
	lose      float64 // the share that do not arrive
	restart   float64 // how often a step is that a node crashes and comes up again
}

// A packet is a message on its way.
type packet struct {
	from, to nodes.ID
	message  nodes.Message
	number   int // of the Send that it comes from
}

// A cluster is a whole cluster in memory. It runs one step at a time, in an order that a seed picks.
type cluster struct {
	stack *nodes.Stack
	spec  *nodes.Spec
	c     nodes.Config
	opts  options
	rng   *rand.Rand
	codec *nodes.Codec
	nodes []*nodes.Node
	saved []nodes.Message // by node: what it would be given after a crash

	flying []packet // in the order sent
	ghosts []packet // copies of what has arrived
	sends  int

	entered int
	tally   nodes.Tally
	total   uint64   // deliveries asked for
	marks   []uint64 // total at each entry
	warm    uint64   // total once the first entry was over and all at rest
	inspect func()   // called after each input
}

func newCluster(spec *nodes.Spec, c nodes.Config, opts options) *cluster {
	k := &cluster{spec: spec, c: c, opts: opts, codec: spec.Codec()}
	k.rng = rand.New(rand.NewPCG(opts.seed, 1))
	k.tally.Sent = map[string]uint64{}
	var err error
	if k.stack, err = nodes.NewStack(nodes.Instance{Spec: spec, Config: c}); err != nil {
		panic(err)
	}
	for id := range nodes.ID(k.stack.Total()) {
		k.nodes = append(k.nodes, k.node(id, 0))
	}
	k.saved = make([]nodes.Message, len(k.nodes))
	return k
}

// node makes a node.
func (k *cluster) node(id nodes.ID, incarnation uint32) *nodes.Node {
	return nodes.NewNode(k.stack, id, incarnation, func(_ nodes.ID, _ int32, n int) int { return k.rng.IntN(n) })
}

func (k *cluster) start() error {
	for id := range k.nodes {
		if err := k.handle(nodes.ID(id), nodes.Input{Kind: nodes.Start}); err != nil {
			return err
		}
	}
	return nil
}

// How a run fails.
var (
	errExclusion = errors.New("two are inside")
	errStuck     = errors.New("nobody moves")
	errStarved   = fmt.Errorf("%w, though the token is there", errStuck)
)

// handle gives a node its input and does what it asks for. It fails when two are inside.
func (k *cluster) handle(id nodes.ID, in nodes.Input) error {
	for _, e := range k.nodes[id].Handle(in) {
		switch e.Op {
		case nodes.OpSend:
			k.sends++
			k.send(packet{id, e.To, e.Message, k.sends}, e.Kind)
		case nodes.OpBroadcast:
			k.sends++
			for to := range nodes.ID(k.c.N) {
				if to != id {
					k.send(packet{id, to, e.Message, k.sends}, e.Kind)
				}
			}
		case nodes.OpGrant:
			k.entered++
			k.marks = append(k.marks, k.total)
			if inside := k.clients(nodes.Inside); len(inside) > 1 {
				return fmt.Errorf("%w: %v, at entry %d", errExclusion, inside, k.entered)
			}
		case nodes.OpSave:
			k.saved[id] = e.Message
		case nodes.OpSetTimer:
			// The node knows which of its timers run.
		default:
			return fmt.Errorf("node %d asks for operation %d", id, e.Op)
		}
	}
	if k.inspect != nil {
		k.inspect()
	}
	return nil
}

func (k *cluster) send(p packet, kind uint8) {
	k.flying = append(k.flying, p)
	k.total++
	k.tally.Sent[k.codec.Name(int(kind))]++
}

// deliver hands over a message: any that flies, or else the first of its link.
func (k *cluster) deliver(at int) error {
	if !k.opts.reorder {
		p := k.flying[at]
		at = slices.IndexFunc(k.flying, func(q packet) bool { return q.from == p.from && q.to == p.to })
	}
	p := k.flying[at]
	k.flying = slices.Delete(k.flying, at, at+1)
	if k.rng.Float64() < k.opts.lose {
		return nil
	}
	if k.rng.Float64() < k.opts.duplicate {
		k.ghosts = append(k.ghosts, p)
	}
	return k.receive(p)
}

func (k *cluster) receive(p packet) error {
	return k.handle(p.to, nodes.Input{Kind: nodes.Receive, From: p.from, Message: p.message})
}

// clients returns the nodes whose clients are in a state.
func (k *cluster) clients(state nodes.ClientState) []nodes.ID {
	var ids []nodes.ID
	for id := range nodes.ID(k.c.N) {
		if k.nodes[id].Client(0) == state {
			ids = append(ids, id)
		}
	}
	return ids
}

// run drives the cluster until the entries are made and all is at rest again.
func (k *cluster) run() error {
	if err := k.start(); err != nil {
		return err
	}
	patience := 1000 * (k.c.N + 1)
	for steps, entered := 0, 0; steps < patience; steps++ {
		if k.entered > entered {
			steps, entered = 0, k.entered
		}
		if err := k.ask(); err != nil {
			return err
		}
		idle := len(k.clients(nodes.Idle)) == k.c.N
		if idle && k.entered >= k.opts.entries && (k.atRest() || k.spec.Circulates) {
			k.tally.Entries = uint64(k.entered)
			return nil
		}
		if k.rng.Float64() < k.opts.restart {
			if err := k.restart(nodes.ID(k.rng.IntN(len(k.nodes)))); err != nil {
				return err
			}
		}
		if err := k.step(); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: no entry in %d steps after %d entries:%s", errStuck, patience, k.entered, k.states())
}

// stuck is the error that nobody moves.
func (k *cluster) stuck() error {
	err := errStuck
	for _, node := range k.nodes {
		if t, ok := node.Machine(0).(nodes.TokenHolder); ok && t.HasToken() {
			err = errStarved
		}
	}
	return fmt.Errorf("%w after %d entries:%s", err, k.entered, k.states())
}

// restart crashes a node and has it come up again, with what it has saved. What was on its way to it dies
// with it.
func (k *cluster) restart(id nodes.ID) error {
	toIt := func(p packet) bool { return p.to == id }
	k.flying = slices.DeleteFunc(k.flying, toIt)
	k.ghosts = slices.DeleteFunc(k.ghosts, toIt)
	k.nodes[id] = k.node(id, 1)
	return k.handle(id, nodes.Input{Kind: nodes.Recover, Message: nodes.Saved{k.saved[id]}})
}

func (k *cluster) atRest() bool { return len(k.flying)+len(k.ghosts) == 0 }

// ask has those clients ask who do so now.
func (k *cluster) ask() error {
	idle := k.clients(nodes.Idle)
	if k.entered >= k.opts.entries || len(idle) == 0 {
		return nil
	}
	quiet := len(idle) == k.c.N && (k.atRest() || k.spec.Circulates)
	some := idle[k.rng.IntN(len(idle))]
	last := nodes.ID(k.c.N - 1)
	switch k.opts.load {
	case sequential:
		if !quiet {
			return nil
		}
		idle = []nodes.ID{some}
	case one:
		if k.entered == 1 && !quiet || k.nodes[last].Client(0) != nodes.Idle {
			return nil
		}
		if k.entered == 1 {
			k.warm = k.total
		}
		idle = []nodes.ID{last}
	case sporadic:
		if k.rng.IntN(4) > 0 && !quiet {
			return nil
		}
		idle = []nodes.ID{some}
	}
	for _, id := range idle {
		if err := k.handle(id, nodes.Input{Kind: nodes.Request}); err != nil {
			return err
		}
	}
	return nil
}

// step lets one message arrive, one client leave or one timer run out.
func (k *cluster) step() error {
	inside := k.clients(nodes.Inside)
	timers := k.timers(nodes.Everyone(len(k.nodes)))
	ghosts, due := min(len(k.ghosts), 1), min(len(timers), 1)
	choices := len(k.flying) + len(inside) + ghosts + due
	if choices == 0 {
		if len(k.clients(nodes.Waiting)) > 0 {
			return k.stuck()
		}
		return nil
	}
	pick := k.rng.IntN(choices)
	switch {
	case pick < len(inside):
		return k.handle(inside[pick], nodes.Input{Kind: nodes.Release})
	case pick < len(inside)+ghosts:
		at := k.rng.IntN(len(k.ghosts))
		p := k.ghosts[at]
		k.ghosts = slices.Delete(k.ghosts, at, at+1)
		return k.receive(p)
	case pick < len(inside)+ghosts+due:
		t := timers[k.rng.IntN(len(timers))]
		return k.handle(t.node, t.input)
	}
	return k.deliver(k.rng.IntN(len(k.flying)))
}

// A timer is one that runs.
type timer struct {
	node  nodes.ID
	input nodes.Input // when it runs out
}

// timers returns those that run at some nodes.
func (k *cluster) timers(at nodes.Set) (all []timer) {
	for id := range at.All() {
		for t, gen := range k.nodes[id].Timers(0) {
			all = append(all, timer{id, nodes.Input{Kind: nodes.Timeout, Timer: t, Gen: gen}})
		}
	}
	return all
}

// perEntry is what the row's Cost is about: messages per entry, counted as docs/measures.md says.
func (k *cluster) perEntry() float64 {
	switch {
	case k.spec.Circulates:
		steady := k.marks[:k.opts.entries]
		return float64(steady[len(steady)-1]-steady[0]) / float64(len(steady)-1)
	case k.opts.load == one:
		return float64(k.total-k.warm) / float64(k.entered-1)
	}
	return float64(k.total) / float64(k.entered)
}

// states prints every machine, to see why a run has gone wrong.
func (k *cluster) states() string {
	var b strings.Builder
	for id, node := range k.nodes {
		fmt.Fprintf(&b, "\n  node %d: %v", id, nodes.Describe(node.Machine(0)))
	}
	return b.String()
}
