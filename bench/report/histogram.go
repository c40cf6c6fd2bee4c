package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/internal/format"
)

const (
	histogramRows  = 9
	histogramWidth = 40 // of the longest bar
)

// writeHistogram draws the distribution h, of nanoseconds, a row per range. The ranges grow by a factor,
// since waits spread over orders of magnitude; zeros, which no factor reaches, have a row of their own.
func writeHistogram(w io.Writer, h *hdrhistogram.Histogram) {
	zeros, least := int64(0), int64(0)
	for _, bar := range h.Distribution() {
		switch {
		case bar.To == 0:
			zeros += bar.Count
		case bar.Count > 0 && least == 0:
			least = bar.From
		}
	}
	var edges []float64
	var counts []int64
	if most := h.Max(); most > 0 {
		edges = edgesOf(float64(least), float64(most), histogramRows-b2i(zeros > 0))
		if least == most || most-least < most/1000 { // one value, at the histogram's resolution
			edges = edges[:2]
		}
		counts = make([]int64, len(edges)-1)
	}
	for _, bar := range h.Distribution() {
		row := 0
		for row < len(counts)-1 && float64(bar.From) >= edges[row+1] {
			row++
		}
		if bar.To > 0 {
			counts[row] += bar.Count
		}
	}
	most := zeros
	for _, n := range counts {
		most = max(most, n)
	}
	line := func(label string, n int64) {
		text := fmt.Sprintf("  %s %5.1f%%  %s", label, 100*float64(n)/float64(h.TotalCount()),
			barOf(histogramWidth*float64(n)/float64(max(most, 1))))
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	if zeros > 0 {
		line(fmt.Sprintf("%9s   %9s", format.Nanos(0), ""), zeros)
	}
	for row, n := range counts {
		line(fmt.Sprintf("%9s - %-9s", format.Nanos(edges[row]), format.Nanos(edges[row+1])), n)
	}
}

// edgesOf divides what lies from low to high into so many ranges whose ends are a factor apart.
func edgesOf(low, high float64, ranges int) []float64 {
	low = max(low, 1)
	if high <= low {
		return []float64{low, low}
	}
	factor := math.Pow(high/low, 1/float64(ranges))
	edges := []float64{low}
	for range ranges - 1 {
		edges = append(edges, edges[len(edges)-1]*factor)
	}
	return append(edges, high)
}

// barOf draws a bar of a length that need not be whole. A length above zero is always visible.
func barOf(length float64) string {
	eighths := int(math.Round(8 * length))
	if length > 0 {
		eighths = max(eighths, 1)
	}
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return text
}
