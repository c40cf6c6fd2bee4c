package results

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/judge/measure"
)

// Histograms and their percentiles are written as the library writes them, byte by byte.
func TestHistogramsAreWrittenAsTheLibraryWritesThem(t *testing.T) {
	start, length := time.UnixMilli(1_700_000_000_123), 1234567*time.Microsecond
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		longest := []int64{1 << 62, int64(time.Hour)}[i%2]
		full, sparse := hdrhistogram.New(1, longest, 3), hdrhistogram.NewPacked(1, longest, 3)
		for range 1 + i*i {
			ns, count := min(dice.Int64N(1<<(1+dice.IntN(62))), longest), 1+dice.Int64N(1<<dice.IntN(20))
			full.RecordValues(ns, count)
			sparse.RecordValues(ns, count)
		}
		full.SetTag("wait")
		full.SetStartTimeMs(start.UnixMilli())
		full.SetEndTimeMs(start.Add(length).UnixMilli())
		var want, got bytes.Buffer
		hdrhistogram.NewHistogramLogWriter(&want).OutputIntervalHistogram(full)
		full.PercentilesPrint(&want, 5, 1000)
		writeHistogram(&got, start, length, measure.Tagged{Tag: "wait", Hist: sparse})
		writeProfile(&got, sparse)
		if got.String() != want.String() {
			t.Fatalf("got\n%s, want\n%s", &got, &want)
		}
	}
}
