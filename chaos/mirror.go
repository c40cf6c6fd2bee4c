package chaos

import (
	"encoding/binary"
	"errors"
	"os"

	"turnstile/nodes"
)

// CheckApart says why nodes on hosts that share no memory cannot suffer some faults, if they cannot. There,
// each host has a SharedState of its own, which follows that of the orchestrator some milliseconds later.
// So a fault whose moment comes at a node would hit one on each host.
func CheckApart(faults []Fault) error {
	for i := range faults {
		f := &faults[i]
		if f.Timed() || f.target().Word == "leader" && f.When.IsZero() {
			continue
		}
		return errors.New(f.String() + ": it waits for a moment at some node, and these hosts share no memory by " +
			"which they would know that it has come at another: give it a time (at), or name the nodes that it hits")
	}
	return nil
}

// Apart says that the nodes are on hosts that share no memory (see CheckApart): a fault of the leader waits
// here until it is known who leads.
func (d *Driver) Apart() { d.apart = true }

// StateSize returns how many bytes the file of the state of faults of so many clients has.
func StateSize(clients int) int { return leadersAt + clients*leaderLen }

// OpenMirror maps the state of faults of a host that follows that of another machine.
func OpenMirror(path string, clients int) (*SharedState, error) {
	if err := os.WriteFile(path, make([]byte, StateSize(clients)), 0o644); err != nil {
		return nil, err
	}
	return openSharedState(path)
}

// Decided returns what the driver of the run has decided, for Follow: of each fault whom it hits, if that
// came out in the run, and from when to when it is in force; and how often each client was taken not to
// lead any more.
func (b *SharedState) Decided() (text []byte) {
	add := func(x int64) { text = binary.AppendVarint(text, x) }
	for i := range b.faults {
		if from, to := b.faults[i].from.Load(), b.faults[i].to.Load(); from != 0 || to != 0 {
			add(int64(i) + 1)
			add(int64(b.faults[i].claim.Load()))
			add(from)
			add(to)
		}
	}
	add(0)
	for id, count := range b.unled {
		if count > 0 {
			add(int64(id) + 1)
			add(int64(count))
		}
	}
	add(0)
	return text
}

var errMirror = errors.New("this is no state of faults")

// Follow has a mirror follow what was Decided. After an error it is a mixture of old and new.
func (b *SharedState) Follow(text []byte) error {
	r := varints{text: text}
	for i := r.next(); i != 0; i = r.next() {
		claim, from, to := r.next(), r.next(), r.next()
		if r.wrong || i < 1 || i > int64(len(b.faults)) {
			return errMirror
		}
		f := &b.faults[i-1]
		if f.from.Load() != from || f.to.Load() != to {
			f.claim.Store(uint64(claim))
			f.to.Store(to)
			f.from.Store(from)
		}
	}
	for i := r.next(); i != 0; i = r.next() {
		count := r.next()
		if r.wrong || i < 1 || i > int64(len(b.leaders)) {
			return errMirror
		}
		if id := nodes.ID(i - 1); b.unled[id] != uint64(count) {
			b.leaders[id].turn.Store(0)
			b.unled[id] = uint64(count)
		}
	}
	if r.wrong || len(r.text) > 0 {
		return errMirror
	}
	return nil
}

// Seen returns what nodes have left in a mirror, for Gather: how many messages faults have hit, and who
// leads.
func (b *SharedState) Seen() (text []byte) {
	add := func(x uint64) { text = binary.AppendVarint(text, int64(x)) }
	for i := range b.faults {
		if hits := b.faults[i].hits.Load(); hits > 0 {
			add(uint64(i) + 1)
			add(hits)
		}
	}
	add(0)
	for id := range b.leaders {
		if turn := b.leaders[id].turn.Load(); turn > 0 {
			add(uint64(id) + 1)
			add(turn)
			add(b.leaders[id].term.Load())
		}
	}
	add(0)
	return text
}

// Gather takes over what nodes have left in all mirrors.
func (b *SharedState) Gather(seen [][]byte) error {
	hits, leaders := make([]uint64, len(b.faults)), make([][2]uint64, len(b.leaders))
	for _, text := range seen {
		r := varints{text: text}
		for i := r.next(); i != 0; i = r.next() {
			count := r.next()
			if r.wrong || i < 1 || i > int64(len(hits)) {
				return errMirror
			}
			hits[i-1] += uint64(count)
		}
		for i := r.next(); i != 0; i = r.next() {
			turn, term := r.next(), r.next()
			if r.wrong || i < 1 || i > int64(len(leaders)) {
				return errMirror
			}
			leaders[i-1] = [2]uint64{uint64(turn), uint64(term)}
		}
		if r.wrong || len(r.text) > 0 {
			return errMirror
		}
	}
	for i, count := range hits {
		b.faults[i].hits.Store(count)
	}
	for id, l := range leaders {
		b.leaders[id].term.Store(l[1])
		b.leaders[id].turn.Store(l[0])
	}
	return nil
}

// varints reads numbers.
type varints struct {
	text  []byte
	wrong bool // there were no more
}

// next returns the next number; 0: there is none.
func (r *varints) next() int64 {
	x, n := binary.Varint(r.text)
	if n <= 0 {
		r.wrong = true
		return 0
	}
	r.text = r.text[n:]
	return x
}
