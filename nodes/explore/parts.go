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

// A part is one state of one node, with its client. It never changes.
type part struct {
	digest      digest
	id          nodes.ID
	up          bool
	client      nodes.ClientState
	node        *nodes.Node // nil while it is down
	incarnation uint32      // a machine can ask for it, so it tells states apart
	asked       int         // requests so far
	saved       nodes.Message
	alarms      []alarm
}

// A packet is a message on its way. In states it stands as a word: its link above, its number below. A tick
// makes it the packet with the next number.
type packet struct {
	digest   digest
	from, to nodes.ID
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

// A stimulus is what happens to a node: one of these, or a timer, or a packet by the number that it had
// when it was sent.
type stimulus uint32

const (
	onStart stimulus = iota
	onRequest
	onRelease
	onCrash
	onRestart
	onAmnesia
	onTick
	onTimeout // and up, by the place among the alarms of the part
	onReceive = stimulus(1 << 16)
)

// An outcome is what comes of a stimulus. There is one for each sequence of answers to Choose.
type outcome struct {
	next    uint32   // part
	sends   []uint32 // words
	entered bool
	choices []int
	panics  string
}

// parts holds all parts, packets and reactions that were met. It is safe for use by several goroutines.
type parts struct {
	o     *Options
	codec *nodes.Codec

	mu        sync.Mutex
	parts     []*part
	packets   []*packet
	partOf    map[digest]uint32
	packetOf  map[digest]uint32
	reactions map[uint64][]outcome
	err       error // what cannot be explored
	dice      fixedDice
	buffer    []byte
	effects   []nodes.Effect
	bytes     uint64 // a careful guess
}

func newParts(o *Options) *parts {
	return &parts{o: o, codec: o.Spec.Codec(), partOf: map[digest]uint32{}, packetOf: map[digest]uint32{},
		reactions: map[uint64][]outcome{}}
}

// What the bookkeeping of these takes in memory beside the state of the machine, by measurement.
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
				ps.parts[number].id, mostWays)
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
	next := &part{id: p.id, up: true, incarnation: p.incarnation, asked: p.asked, saved: p.saved}
	switch s {
	case onCrash:
		next.up = false
		return outcome{next: ps.number(next)}
	case onTick:
		next.node, next.alarms = p.node, laterAlarms(p.alarms)
		return outcome{next: ps.number(next)}
	}
	in := nodes.Input{}
	switch s {
	case onStart, onRestart, onAmnesia:
		in.Kind = nodes.Start
		if s != onStart {
			next.incarnation++
			in.Kind = nodes.Recover
		}
		machine := ps.o.Spec.Machine(ps.o.Config, p.id)
		if _, recovers := machine.(nodes.Recoverer); s == onAmnesia || !recovers {
			next.saved = nil
		}
		in.Message = next.saved
		next.node = nodes.NewNode(p.id, ps.o.Config.N, next.incarnation, ps.dice.choose,
			nodes.Part{Machine: machine, Codec: ps.codec})
	case onRequest:
		next.asked++
		in.Kind = nodes.Request
	case onRelease:
		in.Kind = nodes.Release
	default:
		if s >= onReceive {
			m := ps.packets[s-onReceive]
			in = nodes.Input{Kind: nodes.Receive, From: m.from, Message: m.message}
		} else {
			a := &p.alarms[s-onTimeout]
			in = nodes.Input{Kind: nodes.Timeout, Timer: a.timer, Gen: a.gen}
		}
	}
	if next.node == nil {
		next.node = p.node.Clone()
	}
	ps.effects = next.node.HandleInto(ps.effects[:0], in)
	next.alarms = ps.o.Timing.alarms(next.node, p.alarms, ps.effects)
	ps.do(next, &out)
	out.next = ps.number(next)
	return out
}

// do does what a machine has asked for.
func (ps *parts) do(p *part, out *outcome) {
	for i := range ps.effects {
		switch e := &ps.effects[i]; e.Op {
		case nodes.OpSend:
			out.sends = append(out.sends, ps.word(p.id, e.To, e))
		case nodes.OpBroadcast:
			for id := range nodes.ID(ps.o.Config.N) {
				if id != p.id {
					out.sends = append(out.sends, ps.word(p.id, id, e))
				}
			}
		case nodes.OpSave:
			p.saved = e.Message
		case nodes.OpGrant:
			out.entered = true
		}
	}
}

// word returns the word for a message that is sent.
func (ps *parts) word(from, to nodes.ID, e *nodes.Effect) uint32 {
	mustExist(from, to, ps.o.total())
	ps.buffer = append(ps.buffer[:0], byte(from), byte(to), e.Kind)
	ps.buffer = nodes.AppendMessage(ps.buffer, e.Message)
	key := digestOf(ps.buffer)
	number, ok := ps.packetOf[key]
	if !ok {
		number = uint32(len(ps.packets))
		ps.packetOf[key] = number
		ps.keep(packet{key, from, to, e.Kind, e.Message, number, ps.o.Timing.flight()})
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
	ps.buffer = append(ps.buffer[:0], byte(p.id), byte(p.incarnation), byte(p.asked), 0)
	if p.up {
		ps.buffer[3] = 1
		ps.buffer = p.node.AppendState(ps.buffer)
		for _, a := range p.alarms {
			ps.buffer = binary.AppendVarint(binary.AppendVarint(ps.buffer, a.opens), a.closes)
		}
	}
	if p.saved != nil { // it comes last, so that its bytes cannot be taken for others
		ps.buffer[3] |= 2
		ps.buffer = append(ps.buffer, byte(ps.codec.KindOf(p.saved)))
		ps.buffer = nodes.AppendMessage(ps.buffer, p.saved)
	}
	p.digest = digestOf(ps.buffer)
	if number, ok := ps.partOf[p.digest]; ok {
		return number
	}
	if p.up {
		p.client = p.node.Client(0)
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

// mustExist has a machine that sends to no node give up.
func mustExist(from, to nodes.ID, total int) {
	if to < 0 || int(to) >= total {
		panic(fmt.Sprintf("node %d sends a message to node %d, which does not exist", from, to))
	}
}
