package explore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"

	"turnstile/nodes"
)

// A state of the cluster is made of parts: the state of each node, and the messages on their way. There
// are many states but few parts, so each part is kept once and has a number, and what a node does when
// something happens to it is found out once for each of its own states. That is exact: a handler sees
// nothing but its node, its input and what Choose answers.

// A digest is the fingerprint of a part, or of a state.
type digest struct{ hi, lo uint64 }

func (p digest) less(q digest) bool { return p.hi < q.hi || p.hi == q.hi && p.lo < q.lo }

// add goes on with another digest behind those that p is of. The two halves go separate ways, so that it
// takes 128 equal bits to confuse two sequences.
func (p digest) add(q digest) digest { return digest{fold(p.hi^q.hi, oddOne), fold(p.lo^q.lo, oddTwo)} }

// addNumbers goes on with two numbers, which count for both halves.
func (p digest) addNumbers(a, b uint32) digest {
	both := uint64(a)<<32 | uint64(b)
	return p.add(digest{both, both})
}

// The multipliers are random odd numbers, as in wyhash.
const (
	oddOne = 0xa0761d6478bd642f
	oddTwo = 0xe7037ed1a0b428db
)

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func digestOf(b []byte) digest {
	sum := sha256.Sum256(b)
	return digest{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
}

// A part is one state of one node, with its clients. It never changes.
type part struct {
	digest  digest
	process *nodes.Process
	up      bool
	waiting uint8   // the resources that its clients wait for
	inside  uint8   // and those that they are inside
	asked   []uint8 // requests so far, by resource
	timers  []runningTimer
}

// saved reports whether there is anything that an amnesic restart would lose.
func (p *part) saved() bool {
	for i := range p.process.Stack().Instances() {
		if p.process.Saved(int32(i)) != nil {
			return true
		}
	}
	return false
}

// A packet is a message on its way. In states it stands as a word: its link above, its number below. A tick
// makes it the packet with the next number.
type packet struct {
	digest   digest
	from, to nodes.ID
	instance int32
	kind     uint8
	message  nodes.Message
	fresh    uint32 // the number of the packet that it was when it was sent
	window
}

const (
	linkShift  = 24
	packetMask = 1<<linkShift - 1
	nodeBits   = 3 // of mostExplored
)

func wordFor(from, to nodes.ID, number int) uint32 {
	return uint32(from<<nodeBits|to)<<linkShift | uint32(number)
}

// receiver returns where the packet that stands as word is on its way to.
func receiver(word uint32) uint32 { return word >> linkShift & (mostExplored - 1) }

// A stimulus is what happens to a node: one of these, a request or a release, by resource, a timer, or a
// packet by the number that it had when it was sent.
type stimulus uint32

const (
	onStart stimulus = iota
	onCrash
	onRestart
	onAmnesia
	onTick
	onRequest // and up, by the number of the resource; for all its units instead of one, mostExplored more
	onRelease = onRequest + 2*mostExplored
	onTimeout = onRelease + mostExplored // and up, by the place among the timers of the part
	onReceive = stimulus(1 << 16)
)

// An outcome is what comes of a stimulus. There is one for each sequence of answers to Choose.
type outcome struct {
	next    uint32   // part
	sends   []uint32 // words
	entered uint8    // the resources whose client enters
	choices []int
	panics  string
}

// parts holds all parts, packets and reactions that were met. It is safe for use by several goroutines.
type parts struct {
	o     *Options
	stack *nodes.Stack
	rt    *nodes.Runtime

	mu        sync.Mutex
	parts     []*part
	packets   []*packet
	partOf    map[digest]uint32
	packetOf  map[digest]uint32
	reactions map[uint64][]outcome
	err       error // what cannot be explored
	dice      fixedDice
	buffer    []byte
	out       *outcome       // of the stimulus at hand
	set       []runningTimer // by it
	bytes     uint64         // a careful guess
}

func newParts(o *Options, stack *nodes.Stack) *parts {
	ps := &parts{o: o, stack: stack, partOf: map[digest]uint32{}, packetOf: map[digest]uint32{},
		reactions: map[uint64][]outcome{}}
	ps.rt = nodes.NewRuntime(stack, ps, func(_ nodes.ID, _ int32, n int) int { return ps.dice.choose(n) })
	return ps
}

// What the records of these take in memory beside the state of the machine, by measurement.
const (
	partBytes     = 700
	packetBytes   = 200
	reactionBytes = 220
)

// mostWays is in how many ways a node may react to one thing: a move numbers them in 16 bits.
const mostWays = 1 << 16

// used returns how many bytes are in use.
func (ps *parts) used() uint64 {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.bytes
}

// failed reports whether something came up that cannot be held.
func (ps *parts) failed() bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.err != nil
}

// react returns what comes of a stimulus.
func (ps *parts) react(number uint32, s stimulus) []outcome {
	key := uint64(number)<<32 | uint64(s)
	if r, ok := ps.reactions[key]; ok {
		return r
	}
	var r []outcome
	ps.dice = fixedDice{}
	for more := true; more; more = ps.dice.next() {
		if len(r) == mostWays {
			ps.err = fmt.Errorf("node %d chooses in more than %d ways at once: an exploration tries no more",
				ps.parts[number].process.ID(), mostWays)
			break
		}
		r = append(r, ps.once(ps.parts[number], s))
	}
	ps.reactions[key] = r
	ps.bytes += reactionBytes * uint64(len(r))
	return r
}

// once finds out what comes of a stimulus under the answers that the dice now give.
func (ps *parts) once(p *part, s stimulus) (out outcome) {
	defer func() {
		if text := recover(); text != nil {
			out = outcome{panics: fmt.Sprint(text)}
		}
		out.choices = ps.dice.answers
	}()
	next := &part{up: true, asked: append([]uint8(nil), p.asked...), process: p.process}
	if s == onTick {
		next.timers = laterTimers(p.timers)
		return outcome{next: ps.number(next)}
	}
	next.process = p.process.Clone()
	ps.out, ps.set = &out, ps.set[:0]
	ps.happen(next, p, s)
	if next.up {
		next.timers = ps.o.Timing.timers(next.process, p.timers, ps.set)
	}
	out.next = ps.number(next)
	return out
}

// happen has a stimulus happen to a part that is a copy of p still.
func (ps *parts) happen(next, p *part, s stimulus) {
	switch {
	case s == onCrash:
		next.up = false
		next.process.Crash()
	case s == onStart:
		next.process.Boot()
	case s == onRestart || s == onAmnesia:
		next.process.Restart(s == onAmnesia)
	case s < onRelease:
		r := (s - onRequest) % mostExplored
		next.asked[r]++
		in := nodes.Input{Kind: nodes.Request, Instance: ps.stack.Mutexes()[r], Units: 1}
		if s >= onRequest+mostExplored {
			in.Units = int32(ps.capacity(int(r)))
		}
		next.process.Handle(&in)
	case s < onTimeout:
		next.process.Handle(&nodes.Input{Kind: nodes.Release, Instance: ps.stack.Mutexes()[s-onRelease]})
	case s >= onReceive:
		m := ps.packets[s-onReceive]
		next.process.Handle(&nodes.Input{Kind: nodes.Receive, Instance: m.instance, From: m.from,
			Message: m.message})
	default:
		t := &p.timers[s-onTimeout]
		next.process.Handle(&nodes.Input{Kind: nodes.Timeout, Instance: t.instance, Timer: t.timer, Gen: t.gen})
	}
}

// capacity returns how many units a resource has.
func (ps *parts) capacity(r int) int {
	return ps.stack.Instances()[ps.stack.Mutexes()[r]].Config.Capacity()
}

// word returns the word for a message that is sent.
func (ps *parts) word(from, to nodes.ID, e *nodes.Effect) uint32 {
	ps.buffer = append(ps.buffer[:0], byte(from), byte(to), byte(e.Instance), e.Kind)
	ps.buffer = ps.stack.Codec().Append(ps.buffer, int(e.Kind), e.Message)
	key := digestOf(ps.buffer)
	number, ok := ps.packetOf[key]
	if !ok {
		number = uint32(len(ps.packets))
		ps.packetOf[key] = number
		ps.keep(packet{key, from, to, e.Instance, e.Kind, e.Message, number, ps.o.Timing.flight()})
	}
	return wordFor(from, to, int(number))
}

// keep keeps a packet in all the ages that it may come to.
func (ps *parts) keep(p packet) {
	for ; ; p.window = p.later() {
		if len(ps.packets) > packetMask {
			ps.err = fmt.Errorf("there are more than %d different messages: an exploration holds no more", packetMask)
			panic(ps.err)
		}
		aged := p
		aged.digest = p.digest.addNumbers(uint32(p.opens), uint32(p.closes))
		ps.packets = append(ps.packets, &aged)
		ps.bytes += packetBytes + uint64(len(ps.buffer))
		if p.due() {
			return
		}
	}
}

// number returns the number of a part, which is kept if there is none like it yet.
func (ps *parts) number(p *part) uint32 {
	ps.buffer = append(append(ps.buffer[:0], byte(p.process.ID())), p.asked...)
	ps.buffer = append(ps.buffer, byte(len(p.timers)))
	for _, t := range p.timers {
		ps.buffer = binary.AppendVarint(binary.AppendVarint(ps.buffer, t.opens), t.closes)
	}
	ps.buffer = p.process.AppendState(ps.buffer)
	p.digest = digestOf(ps.buffer)
	if number, ok := ps.partOf[p.digest]; ok {
		return number
	}
	for r, instance := range ps.stack.Mutexes() {
		switch state := p.process.Client(instance); {
		case !p.up:
		case state == nodes.Waiting:
			p.waiting |= 1 << r
		case state == nodes.Inside:
			p.inside |= 1 << r
		}
	}
	number := uint32(len(ps.parts))
	ps.partOf[p.digest] = number
	ps.parts = append(ps.parts, p)
	ps.bytes += partBytes + 2*uint64(len(ps.buffer))
	return number
}

// fixedDice answer Choose by a list, and go through all lists that there are.
type fixedDice struct {
	answers, bounds []int
	at              int
}

func (d *fixedDice) choose(n int) int {
	if d.at == len(d.answers) {
		d.answers, d.bounds = append(d.answers, 0), append(d.bounds, n)
	}
	d.at++
	return d.answers[d.at-1]
}

// next goes on to the next list. It reports whether there is one.
func (d *fixedDice) next() bool {
	last := len(d.answers) - 1
	for last >= 0 && d.answers[last]+1 == d.bounds[last] {
		last--
	}
	if last < 0 {
		return false
	}
	answers := append([]int(nil), d.answers[:last+1]...) // an outcome keeps the old one
	answers[last]++
	*d = fixedDice{answers: answers, bounds: d.bounds[:last+1]}
	return true
}
