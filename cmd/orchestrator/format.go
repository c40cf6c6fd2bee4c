package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"turnstile/bench/check"
	"turnstile/internal/english"
	"turnstile/results"
)

// missing is printed for what was not measured.
const missing = "-"

// micros prints a figure in microseconds in the unit that suits it.
func micros(f results.Figure) string {
	us, known := f.Value()
	if !known {
		return missing
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

// seconds prints a figure in seconds in the unit that suits it.
func seconds(f results.Figure) string {
	s, known := f.Value()
	if !known {
		return missing
	}
	return bound(f) + nanos(s*1e9)
}

func nanos(ns float64) string { return micros(results.Number(ns / 1e3)) }

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

// plain prints a figure to so many decimal places.
func plain(f results.Figure, places int) string {
	x, known := f.Value()
	if !known {
		return missing
	}
	return bound(f) + strconv.FormatFloat(x, 'f', places, 64)
}

// whole prints a figure as a whole number.
func whole(f results.Figure) string {
	x, known := f.Value()
	if !known {
		return missing
	}
	return bound(f) + english.Thousands(x)
}

// rate prints a figure per second: small ones with three significant digits, others as whole numbers.
func rate(f results.Figure) string {
	if x, known := f.Value(); known && x < 99.95 {
		return bound(f) + significant(x)
	}
	return whole(f)
}

// outOf prints how many there are of those that there should be.
func outOf(n, of int) string {
	if n == of {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// rangeOf prints the range of two whole numbers.
func rangeOf(low, high results.Figure) string {
	if low == high {
		return whole(low)
	}
	return whole(low) + " to " + whole(high)
}

// precise prints a figure to three decimal places.
func precise(f results.Figure) string { return plain(f, 3) }

// hundredths prints a figure to two decimal places.
func hundredths(f results.Figure) string { return plain(f, 2) }

// finePercent prints a share as a percentage with one decimal place.
func finePercent(f results.Figure) string {
	x, known := f.Value()
	if !known {
		return missing
	}
	return fmt.Sprintf("%.1f%%", 100*x)
}

func percent(f results.Figure) string {
	x, known := f.Value()
	if !known {
		return missing
	}
	return fmt.Sprintf("%.0f%%", 100*x)
}

func bound(f results.Figure) string {
	if f.IsBound() {
		return ">"
	}
	return ""
}

// duration prints a length of time without the zeros that Go puts behind it.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// A palette colours text, if it goes to a terminal.
type palette struct{ on bool }

func paletteFor(w io.Writer) palette {
	return palette{isTerminal(w) && os.Getenv("NO_COLOR") == ""}
}

// The colours, as parameters of ANSI escape codes.
const (
	bold   = "1"
	green  = "1;32"
	red    = "1;31"
	yellow = "1;33"
)

func (p palette) paint(color, text string) string {
	if !p.on {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

func (p palette) outcome(o check.Outcome) string {
	color := map[check.Outcome]string{check.Valid: green, check.Violated: red}[o]
	if color == "" {
		color = yellow
	}
	return p.paint(color, strings.ToUpper(o.String()))
}
