// Package jsonseq puts JSON texts into a stream that holds other text as well, and takes them out again.
// They are framed as in a JSON text sequence (RFC 7464): a byte that no text has, the JSON, the end of the
// line.
package jsonseq

import "encoding/json"

const (
	begin = 0x1e
	end   = '\n'
)

// longest is more than any JSON has: what claims to be longer is none.
const longest = 1 << 24

// Encode returns v as JSON in its frame.
func Encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(append([]byte{begin}, b...), end), nil
}

// A Reader takes the values of type T out of a stream.
type Reader[T any] struct {
	On    func(T) // is given each
	begun []byte  // of a frame; empty: none has
}

// Sift takes the next piece of the stream, and returns it without the values. What is no value is returned as
// it came, though perhaps later.
func (r *Reader[T]) Sift(piece []byte) (rest []byte) {
	for _, c := range piece {
		switch {
		case len(r.begun) == 0 && c != begin:
			rest = append(rest, c)
			continue
		case c == begin: // and what came before is none
			rest = append(rest, r.begun...)
			r.begun = r.begun[:0]
		}
		r.begun = append(r.begun, c)
		if c != end && len(r.begun) < longest {
			continue
		}
		var v T
		if err := json.Unmarshal(r.begun[1:], &v); err == nil {
			r.On(v)
		} else {
			rest = append(rest, r.begun...)
		}
		r.begun = r.begun[:0]
	}
	return rest
}
