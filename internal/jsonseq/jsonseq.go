// Package jsonseq inserts JSON texts into a stream of other text, and extracts them. Each is framed as in a
// JSON text sequence (RFC 7464): a byte that no text has, the JSON, a newline.
package jsonseq

import "encoding/json"

const (
	begin = 0x1e
	end   = '\n'
)

// longest is the size in bytes at which a frame counts as other text: no JSON here is so long.
const longest = 1 << 24

// Encode returns v as JSON in its frame.
func Encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(append([]byte{begin}, b...), end), nil
}

// A Reader extracts the values of type T from a stream.
type Reader[T any] struct {
	On    func(T) // receives each value
	begun []byte  // the beginning of a frame; empty: outside a frame
}

// Sift takes the next piece of the stream, and returns it without the values. Other text is returned
// unchanged, perhaps by a later call.
func (r *Reader[T]) Sift(piece []byte) (rest []byte) {
	for _, c := range piece {
		switch {
		case len(r.begun) == 0 && c != begin:
			rest = append(rest, c)
			continue
		case c == begin: // the frame before was not ended: it is other text
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
