package results

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// An Interval is the latencies of one trial, each histogram in nanoseconds, under its tag.
type Interval struct {
	Trial     int
	Start     time.Time // of what was measured
	Length    time.Duration
	Latencies []Tagged
}

// A Tagged is one latency histogram with its name.
type Tagged struct {
	Tag  string
	Hist *hdrhistogram.Histogram
}

// WaitTag is the tag of the histogram that latency.hgrm is about.
const WaitTag = "wait"

// OpenSuffix ends the tag of a histogram of those latencies that never ended. They are in the histogram
// without the suffix too, with the age they had.
const OpenSuffix = "_open"

// WriteLatencies writes latency.hlog, a line per trial and tag, and latency.hgrm, in microseconds, of
// the waits of all trials. Histograms are merged and never their percentiles averaged: the mean of
// several 99th percentiles is no percentile of anything.
func (f *Folder) WriteLatencies(intervals []Interval) error {
	err := writeFile(f.File(LatencyLog), func(w io.Writer) error { return writeLog(w, intervals) })
	if err != nil {
		return err
	}
	waits := Pool(intervals)[WaitTag]
	if waits == nil {
		return nil
	}
	return writeFile(f.File(LatencyProfile), func(w io.Writer) error {
		const ticksPerHalfDistance, nsPerUS = 5, 1000
		_, err := waits.PercentilesPrint(w, ticksPerHalfDistance, nsPerUS)
		return err
	})
}

func writeLog(w io.Writer, intervals []Interval) error {
	log := hdrhistogram.NewHistogramLogWriter(w)
	if err := log.OutputLogFormatVersion(); err != nil {
		return err
	}
	if err := log.OutputComment("[Latencies in nanoseconds; their maxima here in milliseconds]"); err != nil {
		return err
	}
	if len(intervals) > 0 {
		if err := log.OutputStartTime(intervals[0].Start.UnixMilli()); err != nil {
			return err
		}
	}
	if err := log.OutputLegend(); err != nil {
		return err
	}
	for _, in := range intervals {
		if err := log.OutputComment(fmt.Sprintf("[Trial: %d]", in.Trial)); err != nil {
			return err
		}
		for _, t := range in.Latencies {
			h := *t.Hist // shares its counts, which are only read
			h.SetTag(t.Tag)
			h.SetStartTimeMs(in.Start.UnixMilli())
			h.SetEndTimeMs(in.Start.Add(in.Length).UnixMilli())
			if err := log.OutputIntervalHistogram(&h); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadLatencies reads latency.hlog, and returns the histograms of all trials together, by their tags.
func (f *Folder) ReadLatencies() (map[string]*hdrhistogram.Histogram, error) {
	file, err := os.Open(f.File(LatencyLog))
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	defer file.Close()
	all := map[string]*hdrhistogram.Histogram{}
	for log := hdrhistogram.NewHistogramLogReader(file); ; {
		h, err := log.NextIntervalHistogram()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", f.File(LatencyLog), err)
		}
		if h == nil {
			return all, nil
		}
		pool(all, h.Tag(), h)
	}
}

// Pool returns the histograms of several trials together, by their tags.
func Pool(intervals []Interval) map[string]*hdrhistogram.Histogram {
	all := map[string]*hdrhistogram.Histogram{}
	for _, in := range intervals {
		for _, t := range in.Latencies {
			pool(all, t.Tag, t.Hist)
		}
	}
	return all
}

func pool(all map[string]*hdrhistogram.Histogram, tag string, h *hdrhistogram.Histogram) {
	if all[tag] == nil {
		all[tag] = h.Clone()
		return
	}
	all[tag].Merge(h)
}
