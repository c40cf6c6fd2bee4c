package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	histogramRows  = 9
	histogramWidth = 40 // of the longest bar
)

// writeHistogram draws the distribution h, of nanoseconds, a row per range, and no more rows than there are
// values. The ranges grow by a factor, since waits spread over orders of magnitude.
func writeHistogram(w io.Writer, h *hdrhistogram.Histogram) {
	rows := min(histogramRows, int(h.TotalCount()))
	edges := edgesOf(float64(h.Min()), float64(h.Max()), rows)
	if h.Min() == h.Max() || h.Max()-h.Min() < h.Max()/1000 { // one value, at the histogram's resolution
		edges = edges[:2]
	}
	counts := make([]int64, len(edges)-1)
	for _, bar := range h.Distribution() {
		row := 0
		for row < len(counts)-1 && float64(bar.From) >= edges[row+1] {
			row++
		}
		counts[row] += bar.Count
	}
	most := int64(1)
	for _, n := range counts {
		most = max(most, n)
	}
	for row, n := range counts {
		share := 100 * float64(n) / float64(h.TotalCount())
		text := fmt.Sprintf("  %9s - %-9s %5.1f%%  %s", nanos(edges[row]), nanos(edges[row+1]), share,
			barOf(histogramWidth*float64(n)/float64(most)))
		fmt.Fprintln(w, strings.TrimRight(text, " "))
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
