// Package figure has measured numbers, which may be unknown or only a lower bound.
package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Figure is one measured number. Its zero value means not measured, and is never written as 0. It may be
// only a lower bound, such as a quantile of waits that never ended.
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

// Number returns the figure x; not measured if x is not finite.
func Number(x float64) Figure { return figure(x, exact) }

// AtLeast returns a figure with the lower bound x.
func AtLeast(x float64) Figure { return figure(x, atLeast) }

// Count returns the figure n.
func Count(n uint64) Figure { return Number(float64(n)) }

// Ratio returns a/b; not measured if b is 0.
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

// Known reports whether the figure was measured, exactly or as a bound.
func (f Figure) Known() bool { return f.state != notMeasured }

// IsBound reports whether the number is only a lower bound.
func (f Figure) IsBound() bool { return f.state == atLeast }

// Value returns the number, and whether it is known.
func (f Figure) Value() (x float64, known bool) { return f.value, f.Known() }

// Max returns the greater of two figures. An unknown figure is less than any other. If one is a lower bound,
// so is the result, since the true number behind the bound may be the greater.
func Max(f, g Figure) Figure {
	switch {
	case !f.Known():
		return g
	case !g.Known():
		return f
	}
	return Figure{max(f.value, g.value), max(f.state, g.state)}
}

// Equal reports whether f and g are equal.
func (f Figure) Equal(g Figure) bool { return f == g }

// String prints the figure: 12.5, >12.5 if it is a lower bound, or "".
func (f Figure) String() string {
	if f.IsBound() {
		return ">" + f.Text()
	}
	return f.Text()
}

// Text prints the number as in a cell, without >, or "". It rounds to six decimal places: no measure here is
// more precise.
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

// UnmarshalText reads a cell: a number, or "".
func (f *Figure) UnmarshalText(text []byte) error {
	*f = Figure{}
	cell := strings.TrimSpace(string(text))
	if cell == "" {
		return nil
	}
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%q is not a number", cell)
	}
	*f = Number(x)
	return nil
}
