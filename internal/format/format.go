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

// Missing is printed for a figure that was not measured.
const Missing = "-"

// Micros prints a figure in microseconds in a suitable unit.
func Micros(f figure.Figure) string {
	return shown(f, func(us float64) string {
		of, name := Unit(us)
		return significant(us/of) + name
	})
}

// Unit returns a suitable unit for us microseconds: its length in microseconds, and its name after a space.
func Unit(us float64) (of float64, name string) {
	switch {
	case us >= 999_500:
		return 1e6, " s"
	case us >= 999.5:
		return 1e3, " ms"
	}
	return 1, " µs"
}

// Seconds prints a figure in seconds in a suitable unit.
func Seconds(f figure.Figure) string {
	return shown(f, func(s float64) string { return Nanos(s * 1e9) })
}

// Nanos prints nanoseconds in a suitable unit.
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

// Plain prints a figure to a number of decimal places.
func Plain(f figure.Figure, places int) string {
	return shown(f, func(x float64) string { return strconv.FormatFloat(x, 'f', places, 64) })
}

// Whole prints a figure as a whole number.
func Whole(f figure.Figure) string { return shown(f, english.Thousands) }

// Rate prints a figure per second: small ones with three significant digits, others as whole numbers.
func Rate(f figure.Figure) string {
	return shown(f, func(x float64) string {
		if x < 99.95 {
			return significant(x)
		}
		return english.Thousands(x)
	})
}

// OutOf prints n as part of a total, such as "3 of 5", or n alone if it is the total.
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
	return percentage(f, "%.1f%%")
}

// Percent prints a share as a whole percentage.
func Percent(f figure.Figure) string {
	return percentage(f, "%.0f%%")
}

func percentage(f figure.Figure, format string) string {
	x, known := f.Value()
	if !known {
		return Missing
	}
	return fmt.Sprintf(format, 100*x)
}

// Probability prints a probability to four decimal places; "" if it is unknown.
func Probability(f figure.Figure) string {
	switch p, known := f.Value(); {
	case !known:
		return ""
	case p < 0.0001:
		return "<0.0001"
	}
	return Plain(f, 4)
}

// shown prints a figure as the function text writes its value, after > if it is a lower bound.
func shown(f figure.Figure, text func(float64) string) string {
	x, known := f.Value()
	switch {
	case !known:
		return Missing
	case f.IsBound():
		return ">" + text(x)
	}
	return text(x)
}

// Duration prints a length of time without trailing zero units: 5m, not 5m0s.
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
