package host

import (
	"encoding/binary"
	"fmt"

	"turnstile/nodes"
)

// An envelope is what stands before every message on the wire: a byte for the kind, its highest bit
// set for a multicast; then as varints the sender, the sender's incarnation, the message's number in
// its stream, from 1, and the instance. The message follows, as its codec writes it.
type envelope struct {
	kind        uint8
	multicast   bool
	from        nodes.ID
	incarnation uint32
	seq         uint64
	instance    int32
}

const multicastBit = 0x80

func (e *envelope) append(b []byte) []byte {
	kind := e.kind
	if e.multicast {
		kind |= multicastBit
	}
	b = append(b, kind)
	b = binary.AppendUvarint(b, uint64(e.from))
	b = binary.AppendUvarint(b, uint64(e.incarnation))
	b = binary.AppendUvarint(b, e.seq)
	return binary.AppendUvarint(b, uint64(e.instance))
}

// read takes the envelope off b and returns the rest. It does not ask whether the sender or the
// instance exist.
func (e *envelope) read(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("an empty message has no envelope")
	}
	*e = envelope{kind: b[0] &^ multicastBit, multicast: b[0]&multicastBit != 0}
	rest := b[1:]
	for i := range 4 {
		x, size := binary.Uvarint(rest)
		if size <= 0 || i != 2 && x > 1<<31-1 {
			return nil, fmt.Errorf("a message's envelope is garbled: % x", b[:min(len(b), 32)])
		}
		switch rest = rest[size:]; i {
		case 0:
			e.from = nodes.ID(x)
		case 1:
			e.incarnation = uint32(x)
		case 2:
			e.seq = x
		case 3:
			e.instance = int32(x)
		}
	}
	return rest, nil
}
