package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

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
