package offset

import (
	"math"
	"slices"
)

// A Piece is the offset from a time on, until that of the next piece: a straight line.
type Piece struct {
	From   int64   `yaml:"from"`   // by the reference's clock, in nanoseconds
	Offset int64   `yaml:"offset"` // what the host's clock showed more then, in nanoseconds
	Rate   float64 `yaml:"rate"`   // by how much that grows, in parts of the time that passes
	// Bound bounds the error of the offset, in nanoseconds.
	Bound int64 `yaml:"bound"`
	// Unknown says that the host's clock jumped: of a time by that clock it is known that it lies in the piece,
	// within Bound.
	Unknown bool `yaml:"unknown,omitempty"`
}

func (p *Piece) offset(at int64) int64 {
	return p.Offset + int64(math.Round(p.Rate*float64(at-p.From)))
}

// Sound reports whether a piece can be used: time passes in it, and its bound is one.
func (p *Piece) Sound() bool { return p.Rate > -1 && p.Rate < math.MaxInt32 && p.Bound >= 0 }

// Pieces are the offset of a host over a time, in the order of time.
type Pieces []Piece

// Reference returns what the reference's clock shows when the host's shows a time, and the piece that this is
// in; nil: it is before the first, whose line is used. There must be a piece. Later times have later ones.
func (p Pieces) Reference(host int64) (at int64, in *Piece) {
	i, found := slices.BinarySearchFunc(p, host, func(p Piece, host int64) int {
		return int(min(1, max(-1, p.From+p.Offset-host)))
	})
	if !found {
		i--
	}
	if i >= 0 {
		in = &p[i]
	}
	line := &p[max(0, i)]
	at = line.From + int64(math.Round(float64(host-line.From-line.Offset)/(1+line.Rate)))
	if i >= 0 && i+1 < len(p) {
		at = min(at, p[i+1].From)
	}
	return at, in
}

// Bound returns the largest bound of the pieces that are known, in nanoseconds.
func (p Pieces) Bound() (largest int64) {
	for i := range p {
		if !p[i].Unknown {
			largest = max(largest, p[i].Bound)
		}
	}
	return largest
}
