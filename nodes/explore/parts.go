package explore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/leading"
	"turnstile/nodes/replay"
)

// A state of the cluster consists of parts, the states of single nodes, and of flights, the messages on their
// way. There are many states but few parts and flights, so each is stored once under a number, and the
// reaction to a stimulus is computed once for each part. This is correct, since a handler depends only on its
// node, its input and the results of Choose.

// A digest is the fingerprint of a part, or of a state.
type digest struct{ hi, lo uint64 }

func (p digest) less(q digest) bool { return p.hi < q.hi || p.hi == q.hi && p.lo < q.lo }

// add appends a digest to the sequence whose digest is p. The two halves are computed independently, so that
// it takes 128 equal bits to confuse two sequences.
func (p digest) add(q digest) digest { return digest{fold(p.hi^q.hi, oddOne), fold(p.lo^q.lo, oddTwo)} }

// addNumbers appends two numbers, to both halves.
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
	waiting uint8   // a bit for each resource that its clients wait for
	inside  uint8   // a bit for each resource whose critical section they are in
	asked   []uint8 // requests so far, by resource
	timers  []replay.RunningTimer

	suspects uint8 // a bit for each node that its failure detector suspects
	heard    uint8 // a bit for each node that it has heard from in this life, for the check minority

	// Used for an election only.
	leading.Belief
	campaigned uint8 // how often it was told to campaign
}

// leads reports whether the node takes itself for the leader.
func (p *part) leads() bool { return p.up && p.Leader == p.process.ID() }

// saved reports whether a restart with amnesia would lose anything.
func (p *part) saved() bool {
	for i := range p.process.Stack().Instances() {
		if p.process.Saved(int32(i)) != nil {
			return true
		}
	}
	return false
}

// A keptFlight is a stored flight. In states it is a word: its link in the upper bits, its number in the
// lower ones. A tick turns it into the flight with the next number.
type keptFlight struct {
	replay.Flight
	digest digest
	fresh  uint32 // its number when it was sent
}

const (
	linkShift  = 24
	flightMask = 1<<linkShift - 1
	nodeBits   = 3 // bits of the number of a node: see mostExplored
)

func wordFor(from, to nodes.ID, number int) uint32 {
	return uint32(from<<nodeBits|to)<<linkShift | uint32(number)
}

// receiver returns the receiver of the flight of a word.
func receiver(word uint32) uint32 { return word >> linkShift & (mostExplored - 1) }

// A stimulus is an event at a node: one of these constants, plus the number of a resource or node, the index
// of a timer in the part, or the number of a flight when it was sent.
type stimulus uint32

const (
	onStart stimulus = iota
	onCrash
	onRestart
	onAmnesia
	onTick
	onCampaign
	onRequest // plus the number of the resource, and mostExplored for each unit beyond the first
	onRelease = onRequest + mostExplored*mostExplored
	onSuspect = onRelease + mostExplored // plus the number of the suspected node
	onTrust   = onSuspect + mostExplored // plus the number of the trusted node
	onTimeout = onTrust + mostExplored   // plus the index of the timer
	onReceive = stimulus(1 << 16)
)

// An outcome is a result of a stimulus. There is one for each sequence of answers to Choose.
type outcome struct {
	next     uint32   // the new part of the node
	sends    []uint32 // words of the messages that it sends
	entered  uint8    // a bit for each resource whose client enters
	fences   []uint64 // fence numbers of the entries, by resource; nil if no resource demands them
	leads    bool     // the node becomes leader
	secluded bool     // the entry violates the check minority
	back     bool     // the node goes back to a lower term
	choices  []int
	after    int // the node crashes after so many saves and messages; 0: it does not
	panics   string
}

// parts holds all parts, flights and reactions that were found. It is safe for use by several goroutines.
type parts struct {
	o     *Space
	stack *algorithm.Stack
	rt    *nodes.Runtime

	mu        sync.Mutex
	parts     []*part
	flights   []*keptFlight
	partOf    map[digest]uint32
	flightOf  map[digest]uint32
	reactions map[uint64][]outcome
	err       error // set if the space exceeds a limit
	dice      fixedDice
	buffer    []byte
	out       *outcome              // outcome of the current stimulus
	next      *part                 // part after the current stimulus
	rules     replay.Rules          // rules of the election, if the stack has an elector
	set       []replay.RunningTimer // timers set by the current stimulus
	after     int                   // the crash comes after so many saves and messages; 0: no crash
	places    int                   // number of places in the current stimulus where the node may crash
	bytes     uint64                // an estimate of the memory in use
}

func newParts(o *Space, stack *algorithm.Stack) *parts {
	ps := &parts{o: o, stack: stack, partOf: map[digest]uint32{}, flightOf: map[digest]uint32{},
		reactions: map[uint64][]outcome{}, rules: replay.RulesOf(stack)}
	ps.rt = nodes.NewRuntime(stack.Stack, ps, func(_ nodes.ID, _ int32, n int) int { return ps.dice.choose(n) })
	if o.Crashes > 0 && !o.WholeInputs {
		ps.rt.TellBetween(ps.between)
	}
	return ps
}

// Bytes of memory that each part, flight and reaction takes, beside the state of the machine, as measured.
const (
	partBytes     = 700
	flightBytes   = 200
	reactionBytes = 220
)

// mostWays is the limit on outcomes of a stimulus: a move numbers them in 16 bits.
const mostWays = 1 << 16

// used returns how many bytes are in use.
func (ps *parts) used() uint64 {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.bytes
}

// failed reports whether a limit was exceeded.
func (ps *parts) failed() bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.err != nil
}

// react returns the outcomes of a stimulus.
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
		r = append(r, ps.once(ps.parts[number], s, 0))
		r = append(r, ps.crashes(ps.parts[number], s)...)
	}
	ps.reactions[key] = r
	ps.bytes += reactionBytes * uint64(len(r))
	return r
}

// once returns the outcome of a stimulus under the current answers of the dice. The node crashes after so
// many saves and messages; 0: it does not.
func (ps *parts) once(p *part, s stimulus, after int) (out outcome) {
	defer func() {
		if text := recover(); text != nil {
			out = outcome{panics: fmt.Sprint(text)}
		}
		out.choices, out.after = ps.dice.answers, after
	}()
	ps.after, ps.places = after, 0
	next := &part{up: true, asked: append([]uint8(nil), p.asked...), process: p.process, suspects: p.suspects,
		heard: p.heard, Belief: p.Belief.Copy(), campaigned: p.campaigned}
	if s == onTick {
		next.timers = ps.o.Timing.Later(p.timers)
		return outcome{next: ps.number(next)}
	}
	next.process = p.process.Clone()
	ps.out, ps.next, ps.set = &out, next, ps.set[:0]
	ps.apply(next, p, s)
	if after > 0 {
		next.down()
	}
	if next.up {
		next.timers = ps.o.Timing.Timers(next.process, p.timers, ps.set)
	}
	out.leads = next.leads() && !p.leads()
	out.secluded = out.entered != 0 && after == 0 && ps.o.secludes() && ps.secluded(next, s)
	out.next = ps.number(next)
	return out
}

// apply applies a stimulus to next, which is a copy of p.
func (ps *parts) apply(next, p *part, s stimulus) {
	switch {
	case s == onCrash:
		next.process.Crash()
		next.down()
	case s == onStart:
		next.process.Boot()
	case s == onRestart || s == onAmnesia:
		next.process.Restart(s == onAmnesia)
	case s == onCampaign:
		next.campaigned++
		next.TakesPart = true
		next.process.Handle(&nodes.Input{Kind: nodes.Campaign})
	case s < onRelease:
		r, units := requested(s)
		next.asked[r]++
		next.process.Handle(&nodes.Input{Kind: nodes.Request, Instance: ps.stack.Mutexes()[r], Units: int32(units)})
	case s < onSuspect:
		next.process.Handle(&nodes.Input{Kind: nodes.Release, Instance: ps.stack.Mutexes()[s-onRelease]})
	case s < onTrust:
		next.suspects |= 1 << (s - onSuspect)
		next.process.Handle(&nodes.Input{Kind: nodes.Suspect, From: nodes.ID(s - onSuspect)})
	case s < onTimeout:
		next.suspects &^= 1 << (s - onTrust)
		next.process.Handle(&nodes.Input{Kind: nodes.Trust, From: nodes.ID(s - onTrust)})
	case s >= onReceive:
		m := ps.flights[s-onReceive]
		if ps.o.secludes() {
			next.heard |= 1 << m.From
		}
		next.process.Handle(&nodes.Input{Kind: nodes.Receive, Instance: m.Instance, From: m.From,
			Message: m.Message})
	default:
		t := &p.timers[s-onTimeout]
		next.process.Handle(&nodes.Input{Kind: nodes.Timeout, Instance: t.Instance, Timer: t.Timer, Gen: t.Gen})
	}
}

// request returns the stimulus of a request for units of a resource.
func request(r, units int) stimulus { return onRequest + stimulus(mostExplored*(units-1)+r) }

// requested returns the resource and the units of a request.
func requested(s stimulus) (r, units int) {
	return int(s-onRequest) % mostExplored, int(s-onRequest)/mostExplored + 1
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
	number, ok := ps.flightOf[key]
	if !ok {
		number = uint32(len(ps.flights))
		ps.flightOf[key] = number
		ps.keep(keptFlight{ps.o.Timing.Flight(from, to, e), key, number})
	}
	return wordFor(from, to, int(number))
}

// keep stores a flight, and its versions after each tick.
func (ps *parts) keep(f keptFlight) {
	for ; ; f.Window = f.Later() {
		if len(ps.flights) > flightMask {
			ps.err = fmt.Errorf("there are more than %d different messages: an exploration holds no more", flightMask)
			panic(ps.err)
		}
		aged := f
		aged.digest = f.digest.addNumbers(uint32(f.Opens), uint32(f.Closes))
		ps.flights = append(ps.flights, &aged)
		ps.bytes += flightBytes + uint64(len(ps.buffer))
		if f.Due() {
			return
		}
	}
}

// number returns the number of a part, and stores it if it is new.
func (ps *parts) number(p *part) uint32 {
	ps.buffer = append(append(ps.buffer[:0], byte(p.process.ID())), p.asked...)
	ps.buffer = append(ps.buffer, p.suspects, p.heard, byte(len(p.timers)))
	for _, t := range p.timers {
		ps.buffer = binary.AppendVarint(binary.AppendVarint(ps.buffer, t.Opens), t.Closes)
	}
	if ps.rules.Elects {
		ps.buffer = p.Belief.Append(append(ps.buffer, p.campaigned))
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

// fixedDice answers Choose from a list of answers, and enumerates all such lists.
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

// next goes on to the next list, if any, and reports whether it did.
func (d *fixedDice) next() bool {
	last := len(d.answers) - 1
	for last >= 0 && d.answers[last]+1 == d.bounds[last] {
		last--
	}
	if last < 0 {
		return false
	}
	answers := append([]int(nil), d.answers[:last+1]...) // an outcome keeps the old list
	answers[last]++
	*d = fixedDice{answers: answers, bounds: d.bounds[:last+1]}
	return true
}

// The effects of a process go into the outcome of the current stimulus.
var _ nodes.Host = (*parts)(nil)

// Send implements nodes.Host.
func (ps *parts) Send(p *nodes.Process, e *nodes.Effect) {
	ps.out.sends = append(ps.out.sends, ps.word(p.ID(), e.To, e))
}

// Broadcast implements nodes.Host.
func (ps *parts) Broadcast(p *nodes.Process, e *nodes.Effect) {
	for to := range p.Hearers() {
		ps.out.sends = append(ps.out.sends, ps.word(p.ID(), to, e))
	}
}

// SetTimer implements nodes.Host.
func (ps *parts) SetTimer(_ *nodes.Process, e *nodes.Effect) {
	ps.set = append(ps.set, ps.o.Timing.Timer(e))
}

// Save implements nodes.Host. The process keeps the message itself.
func (ps *parts) Save(*nodes.Process, *nodes.Effect) {}

// Enter implements nodes.Host.
func (ps *parts) Enter(_ *nodes.Process, e *nodes.Effect) {
	for r, instance := range ps.stack.Mutexes() {
		if instance != e.Instance {
			continue
		}
		ps.out.entered |= 1 << r
		if ps.stack.Fenced(instance) {
			if ps.out.fences == nil {
				ps.out.fences = make([]uint64, len(ps.stack.Mutexes()))
			}
			ps.out.fences[r] = e.Number
		}
	}
}

// Elect implements nodes.Host.
func (ps *parts) Elect(p *nodes.Process, e *nodes.Effect) {
	if ps.rules.Elects && e.Instance == 0 {
		back, _ := ps.next.Declare(p.ID(), e.To, e.Number, ps.rules.Terms)
		ps.out.back = ps.out.back || back
	}
}

// Revoke, Inform and Suspect implement nodes.Host. Their effects are in the state of the process.
func (ps *parts) Revoke(*nodes.Process, *nodes.Effect)        {}
func (ps *parts) Inform(*nodes.Process, *nodes.Effect)        {}
func (ps *parts) Suspect(*nodes.Process, *nodes.Effect, bool) {}

// A node may crash in the middle of an input. Only such a crash shows that an algorithm sends before it
// saves, or saves in two steps what belongs together. The input has a further outcome for each place between
// two effects that survive a crash, saves and messages. A crash before the first equals one before the input,
// and a crash after the last equals one after it.

// between is called at each place where the node may crash in the middle of an input.
func (ps *parts) between(p *nodes.Process, done int) {
	ps.places = done
	if done == ps.after {
		p.Crash()
	}
}

// crashes returns the outcomes of a crash in the middle of a stimulus. The method ps.once must have run
// for this stimulus before: it sets places.
func (ps *parts) crashes(p *part, s stimulus) (all []outcome) {
	places := ps.places
	for after := 1; after <= places && s != onStart; after++ {
		ps.dice.at = 0
		all = append(all, ps.once(p, s, after))
	}
	return all
}

// down makes p the state of a node that is down.
func (p *part) down() {
	p.up, p.suspects, p.heard = false, 0, 0
	p.Belief.Crash()
}

// crashed reports whether the node of a move goes down by it.
func crashed(m move, out *outcome) bool {
	return m.what == replay.StepCrash || out != nil && out.after > 0
}
