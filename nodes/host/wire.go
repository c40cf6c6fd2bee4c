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
// envelope only, the sender's incarnation and the instance, which are zero otherwise. The message follows, as
// its codec writes it.
type envelope struct {
	kind        uint8
	multicast   bool
	from        nodes.ID
	seq         uint64
	incarnation uint32
	instance    int32
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
	full := e.incarnation != 0 || e.instance != 0
	if full {
		first |= fullMark
	}
	b = append(b, first)
	b = binary.AppendUvarint(b, uint64(e.from))
	b = binary.AppendUvarint(b, e.seq)
	if full {
		b = binary.AppendUvarint(b, uint64(e.incarnation))
		b = binary.AppendUvarint(b, uint64(e.instance))
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
		e.incarnation = uint32(take(math.MaxUint32))
		e.instance = int32(take(math.MaxInt32))
	}
	if !sound {
		return nil, fmt.Errorf("a message's envelope is garbled: % x", b[:min(len(b), 32)])
	}
	return rest, nil
}
