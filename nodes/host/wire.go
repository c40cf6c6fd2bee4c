package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"turnstile/nodes"
)

// An envelope precedes every message on the wire: a byte for the kind and two marks, of a multicast and of a
// full envelope; then as varints the sender, the message's number in its stream, from 1, and, in a full
// envelope only, twice the sender's incarnation, plus 1 if more follows, and the instance. What follows then
// is how often the sender has been connected again, the number of the latest order that said that all are,
// and how many messages of the stream it has sent since, this one included. All of these are zero otherwise.
// Last comes the message, as its codec writes it.
type envelope struct {
	kind        uint8
	multicast   bool
	from        nodes.ID
	seq         uint64
	incarnation uint32
	instance    int32

	reconnects uint32 // see outage
	restored   uint32
	owed       uint64 // 0: none, since it knows that connections are lost
}

const (
	multicastMark = 0x80
	fullMark      = 0x40
)

func (e *envelope) append(b []byte) []byte {
	first := e.kind
	if e.multicast {
		first |= multicastMark
	}
	more := uint64(0)
	if e.reconnects != 0 || e.restored != 0 || e.owed != 0 {
		more = 1
	}
	full := e.incarnation != 0 || e.instance != 0 || more != 0
	if full {
		first |= fullMark
	}
	b = append(b, first)
	b = binary.AppendUvarint(b, uint64(e.from))
	b = binary.AppendUvarint(b, e.seq)
	if full {
		b = binary.AppendUvarint(b, uint64(e.incarnation)<<1|more)
		b = binary.AppendUvarint(b, uint64(e.instance))
	}
	if more != 0 {
		b = binary.AppendUvarint(b, uint64(e.reconnects))
		b = binary.AppendUvarint(b, uint64(e.restored))
		b = binary.AppendUvarint(b, e.owed)
	}
	return b
}

// read takes the envelope off b and returns the rest. It does not check whether the sender and the
// instance exist.
func (e *envelope) read(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errors.New("an empty message has no envelope")
	}
	*e = envelope{kind: b[0] &^ (multicastMark | fullMark), multicast: b[0]&multicastMark != 0}
	rest, sound := b[1:], true
	take := func(most uint64) (x uint64) {
		x, size := binary.Uvarint(rest)
		if size <= 0 || x > most {
			sound = false
			return 0
		}
		rest = rest[size:]
		return x
	}
	e.from = nodes.ID(take(math.MaxInt32))
	e.seq = take(math.MaxUint64)
	if b[0]&fullMark != 0 {
		incarnation := take(math.MaxUint32<<1 | 1)
		e.incarnation, e.instance = uint32(incarnation>>1), int32(take(math.MaxInt32))
		if incarnation&1 != 0 {
			e.reconnects, e.restored = uint32(take(math.MaxUint32)), uint32(take(math.MaxUint32))
			e.owed = take(math.MaxUint64)
		}
	}
	if !sound {
		return nil, fmt.Errorf("a message's envelope is garbled: % x", b[:min(len(b), 32)])
	}
	return rest, nil
}
