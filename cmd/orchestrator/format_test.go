package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/results"
)

func TestMicros(t *testing.T) {
	for _, c := range []struct {
		figure results.Figure
		want   string
	}{
		{results.Figure{}, "-"},
		{results.Number(0), "0 µs"},
		{results.Number(0.25), "0.25 µs"},
		{results.Number(12.34), "12.3 µs"},
		{results.Number(999.4), "999 µs"},
		{results.Number(999.6), "1.00 ms"},
		{results.Number(45_600), "45.6 ms"},
		{results.AtLeast(2_500_000), ">2.50 s"},
	} {
		if got := micros(c.figure); got != c.want {
			t.Errorf("micros(%v) = %q, want %q", c.figure, got, c.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for figure, want := range map[results.Figure]string{
		{}: "-", results.Number(3.004): "3.00 s", results.Number(0.25): "250 ms", results.Number(2e-5): "20.0 µs",
	} {
		if got := seconds(figure); got != want {
			t.Errorf("seconds(%v) = %q, want %q", figure, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	for figure, want := range map[results.Figure]string{
		{}: "-", results.Number(0): "0", results.Number(1.0 / 3): "0.33", results.Number(48.5): "48.5",
		results.Number(99.96): "100", results.Number(1234.5): "1,234", results.AtLeast(2): ">2.00",
	} {
		if got := rate(figure); got != want {
			t.Errorf("rate(%v) = %q, want %q", figure, got, want)
		}
	}
}

func TestHistogramShowsAll(t *testing.T) {
	for _, values := range [][]int64{{5}, {0, 0}, {0, 1e6, 2e6}, {1000, 1001}, {1, 1e3, 1e6, 1e9},
		{7, 7, 7, 8000},
		{1_000_000, 1_000_600, 1_001_200, 1_001_800, 1_002_400, 1_003_000, 1_003_500, 1_004_000, 1_004_500}} {
		h := hdrhistogram.New(1, 1e12, 3)
		for _, v := range values {
			h.RecordValues(v, fewValues)
		}
		var b bytes.Buffer
		writeHistogram(&b, h)
		rows := strings.Count(b.String(), "\n")
		longest := strings.Repeat("█", histogramWidth)
		if rows < 1 || rows > histogramRows || !strings.Contains(b.String(), longest) {
			t.Errorf("of %v:\n%s", values, b.String())
		}
		if first, _, _ := strings.Cut(b.String(), "\n"); strings.Contains(first, " 0.0%") {
			t.Errorf("of %v, it begins with what is empty:\n%s", values, b.String())
		}
		if zeros := strings.HasPrefix(b.String(), "       0 µs  "); zeros != (values[0] == 0) ||
			zeros && strings.Contains(b.String(), "0.00 µs") {
			t.Errorf("of %v, zeros have no row of their own:\n%s", values, b.String())
		}
	}
}

func TestColours(t *testing.T) {
	if got := (palette{on: true}).paint(green, "x"); got != "\x1b[1;32mx\x1b[0m" {
		t.Errorf("painted: %q", got)
	}
	if paletteFor(&bytes.Buffer{}).on {
		t.Error("a buffer is no terminal, and gets colours")
	}
}
