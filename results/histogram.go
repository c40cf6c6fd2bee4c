package results

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/judge/measure"
)

// This file writes histograms of latencies as the library does, byte by byte. The library cannot write the
// percentiles of a sparse histogram, and makes a compressor of almost a megabyte for each histogram.

// writeProfile writes latency.hgrm, in microseconds: the durations at which certain percentiles are reached.
// Five percentiles halve the distance to 100.
func writeProfile(w io.Writer, h *measure.Histogram) error {
	const ticks, ns = 5, 1000
	out := bufio.NewWriter(w) // it keeps the first error until Flush
	fmt.Fprint(out, " Value\tPercentile\tTotalCount\t1/(1-Percentile)\n\n")
	total, reached, next, most := h.TotalCount(), int64(0), 0.0, int64(0)
	line := func(percentile float64) {
		inverse := "inf"
		if share := percentile / 100; share < 1 {
			inverse = fmt.Sprintf("%.2f", 1/(1-share))
		}
		fmt.Fprintf(out, "%12.3f %12f %12d %12s\n", float64(most)/ns, percentile/100, reached, inverse)
	}
	for value, count := range h.ForEachBucket {
		reached += count
		_, most = measure.BarOf(value)
		for next < 100 && next <= 100*float64(reached)/float64(total) {
			line(next)
			halved := math.Trunc(math.Log2(100/(100-next))) + 1
			next += 100 / (ticks * math.Trunc(math.Pow(2, halved)))
			if reached == total {
				break
			}
		}
	}
	line(100)
	fmt.Fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", h.Mean()/ns, h.StdDev()/ns)
	fmt.Fprintf(out, "#[Max     = %12.3f, Total count    = %12d]\n", float64(h.Max())/ns, total)
	fmt.Fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n",
		bits.Len64(uint64(h.HighestTrackableValue()))-measure.Resolution+1, 1<<measure.Resolution)
	return out.Flush()
}

// writeHistogram writes the line of a histogram in latency.hlog.
func writeHistogram(w io.Writer, start time.Time, length time.Duration, t measure.Tagged) error {
	began, ended := float64(start.UnixMilli())/1000, float64(start.Add(length).UnixMilli())/1000
	_, err := fmt.Fprintf(w, "Tag=%s,%f,%f,%f,%s\n", t.Tag, began, ended-began, float64(t.Hist.Max())/1e6,
		base64.StdEncoding.EncodeToString(packed(t.Hist)))
	return err
}

// The marks of the format V2 of HdrHistogram, with and without compression.
const (
	compressedMark = uint32(hdrhistogram.V2CompressedEncodingCookieBase) | 0x10
	plainMark      = uint32(hdrhistogram.V2EncodingCookieBase) | 0x10
)

// deflaters are compressors for reuse.
var deflaters = sync.Pool{New: func() any {
	w, err := zlib.NewWriterLevel(nil, zlib.BestCompression)
	if err != nil {
		panic(err) // only a wrong level causes an error
	}
	return w
}}

// packed returns a histogram of latencies in the format V2 of HdrHistogram, compressed.
func packed(h *measure.Histogram) []byte {
	counts := countsOf(h)
	plain := binary.BigEndian.AppendUint32(nil, plainMark)
	plain = binary.BigEndian.AppendUint32(plain, uint32(len(counts)))
	plain = binary.BigEndian.AppendUint32(plain, 0) // no offset of indices
	plain = binary.BigEndian.AppendUint32(plain, uint32(h.SignificantFigures()))
	plain = binary.BigEndian.AppendUint64(plain, uint64(h.LowestTrackableValue()))
	plain = binary.BigEndian.AppendUint64(plain, uint64(h.HighestTrackableValue()))
	plain = binary.BigEndian.AppendUint64(plain, math.Float64bits(1)) // how many units a value is
	var b bytes.Buffer
	b.Write(make([]byte, 8))
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(&b)
	z.Write(append(plain, counts...)) // writing to memory does not fail
	z.Close()
	binary.BigEndian.PutUint32(b.Bytes(), compressedMark)
	binary.BigEndian.PutUint32(b.Bytes()[4:], uint32(b.Len()-8))
	return b.Bytes()
}

// countsOf returns the counters of a histogram up to the last that is not zero. A negative number stands for
// several zeros.
func countsOf(h *measure.Histogram) (counts []byte) {
	next := int64(0)
	for value, count := range h.ForEachBucket {
		from, to := measure.BarOf(value)
		at := value/(to-from+1) + int64(bits.Len64(uint64(to-from)))<<(measure.Resolution-1)
		if zeros := at - next; zeros == 1 {
			counts = append(counts, 0)
		} else if zeros > 1 {
			counts = binary.AppendVarint(counts, -zeros)
		}
		counts, next = binary.AppendVarint(counts, count), at+1
	}
	return counts
}
