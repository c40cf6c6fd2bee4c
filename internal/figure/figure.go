// Package figure has measured numbers, which may be unknown, or known as a lower bound alone.
package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Figure is one measured number. Its zero value is "not measured", which is never written as a
// zero. Of some numbers only a lower bound is known, such as a quantile among waits that never ended.
type Figure struct {
	value float64
	state figureState
}

type figureState uint8

const (
	notMeasured figureState = iota
	exact
	atLeast
)

// Number is the figure x. An x that is not finite counts as not measured.
func Number(x float64) Figure { return figure(x, exact) }

// AtLeast is a figure of which only is known that it is not below x.
func AtLeast(x float64) Figure { return figure(x, atLeast) }

// Count is the figure n.
func Count(n uint64) Figure { return Number(float64(n)) }

// Ratio is a/b, and not measured when b is zero.
func Ratio(a, b float64) Figure {
	if b == 0 {
		return Figure{}
	}
	return Number(a / b)
}

func figure(x float64, state figureState) Figure {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Figure{}
	}
	return Figure{x + 0, state} // + 0 makes -0 a plain 0
}

// Known reports whether the figure was measured, if only as a bound.
func (f Figure) Known() bool { return f.state != notMeasured }

// IsBound reports whether the number is a lower bound only.
func (f Figure) IsBound() bool { return f.state == atLeast }

// Value returns the number, and whether there is one.
func (f Figure) Value() (x float64, known bool) { return f.value, f.Known() }

// Equal reports whether f and g say the same.
func (f Figure) Equal(g Figure) bool { return f == g }

// String prints the figure: 12.5, >12.5 if it is a lower bound, or nothing.
func (f Figure) String() string {
	if f.IsBound() {
		return ">" + f.Text()
	}
	return f.Text()
}

// Text prints the number alone, as its cell has it, or nothing. More than six places after the point are
// rounded off: no measure here is that precise.
func (f Figure) Text() string {
	if !f.Known() {
		return ""
	}
	x := f.value
	if math.Abs(x) < 1e9 {
		x = math.Round(x*1e6)/1e6 + 0
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// MarshalText writes the figure as String prints it.
func (f Figure) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a cell: a number, or nothing.
func (f *Figure) UnmarshalText(text []byte) error {
	*f = Figure{}
	cell := strings.TrimSpace(string(text))
	if cell == "" {
		return nil
	}
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%q is no number", cell)
	}
	*f = Number(x)
	return nil
}
