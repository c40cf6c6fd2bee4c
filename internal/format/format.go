// Package format prints figures, counts and times for people.
package format

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/english"
	"turnstile/internal/figure"
)

// Missing is printed for what was not measured.
const Missing = "-"

// Micros prints a figure in microseconds in the unit that suits it.
func Micros(f figure.Figure) string {
	us, known := f.Value()
	if !known {
		return Missing
	}
	text := significant(us) + " µs"
	switch {
	case us >= 999_500:
		text = significant(us/1e6) + " s"
	case us >= 999.5:
		text = significant(us/1e3) + " ms"
	}
	return bound(f) + text
}

// Seconds prints a figure in seconds in the unit that suits it.
func Seconds(f figure.Figure) string {
	s, known := f.Value()
	if !known {
		return Missing
	}
	return bound(f) + Nanos(s*1e9)
}

// Nanos prints nanoseconds in the unit that suits them.
func Nanos(ns float64) string { return Micros(figure.Number(ns / 1e3)) }

// significant prints x with three significant digits.
func significant(x float64) string {
	places := 2
	switch {
	case x == 0 || x >= 99.95:
		places = 0
	case x >= 9.995:
		places = 1
	}
	return strconv.FormatFloat(x, 'f', places, 64)
}

// Plain prints a figure to so many decimal places.
func Plain(f figure.Figure, places int) string {
	x, known := f.Value()
	if !known {
		return Missing
	}
	return bound(f) + strconv.FormatFloat(x, 'f', places, 64)
}

// Whole prints a figure as a whole number.
func Whole(f figure.Figure) string {
	x, known := f.Value()
	if !known {
		return Missing
	}
	return bound(f) + english.Thousands(x)
}

// Rate prints a figure per second: small ones with three significant digits, others as whole numbers.
func Rate(f figure.Figure) string {
	if x, known := f.Value(); known && x < 99.95 {
		return bound(f) + significant(x)
	}
	return Whole(f)
}

// OutOf prints how many there are of those that there should be.
func OutOf(n, of int) string {
	if n == of {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// Range prints the range of two whole numbers.
func Range(low, high figure.Figure) string {
	if low == high {
		return Whole(low)
	}
	return Whole(low) + " to " + Whole(high)
}

// Precise prints a figure to three decimal places.
func Precise(f figure.Figure) string { return Plain(f, 3) }

// Hundredths prints a figure to two decimal places.
func Hundredths(f figure.Figure) string { return Plain(f, 2) }

// FinePercent prints a share as a percentage with one decimal place.
func FinePercent(f figure.Figure) string {
	x, known := f.Value()
	if !known {
		return Missing
	}
	return fmt.Sprintf("%.1f%%", 100*x)
}

// Percent prints a share as a whole percentage.
func Percent(f figure.Figure) string {
	x, known := f.Value()
	if !known {
		return Missing
	}
	return fmt.Sprintf("%.0f%%", 100*x)
}

func bound(f figure.Figure) string {
	if f.IsBound() {
		return ">"
	}
	return ""
}

// Duration prints a length of time without the zeros that Go puts behind it.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
