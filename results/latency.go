package results

import (
	"fmt"
	"io"
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

// WriteLatencies writes latency.hlog, a line per trial and tag, and latency.hgrm, in microseconds, of
// the waits of all trials. Histograms are merged and never their percentiles averaged: the mean of
// several 99th percentiles is no percentile of anything.
func (f *Folder) WriteLatencies(intervals []Interval) error {
	err := writeFile(f.File(LatencyLog), func(w io.Writer) error { return writeLog(w, intervals) })
	if err != nil {
		return err
	}
	waits := merged(intervals, WaitTag)
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

// merged returns all histograms with a tag as one, or nil if there are none.
func merged(intervals []Interval, tag string) *hdrhistogram.Histogram {
	var all *hdrhistogram.Histogram
	for _, in := range intervals {
		for _, t := range in.Latencies {
			switch {
			case t.Tag != tag:
			case all == nil:
				all = t.Hist.Clone()
			default:
				all.Merge(t.Hist)
			}
		}
	}
	return all
}
