package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/internal/input"
	"turnstile/judge/measure"
)

// An Interval has the latencies of one trial: histograms in nanoseconds, each with a tag.
type Interval struct {
	Trial     int
	Start     time.Time // when measuring began
	Length    time.Duration
	Latencies []measure.Tagged
}

// LatencyTables returns latency.hlog, which has a line per trial and tag, and latency.hgrm, which has the
// waits of all trials in microseconds. For latency.hgrm it merges histograms and averages no percentiles:
// the mean of several 99th percentiles is not a percentile of anything.
func LatencyTables(intervals []Interval) []Table {
	waits := Pool(intervals)[measure.WaitTag]
	log := func(w io.Writer) error { return writeLog(w, intervals) }
	return []Table{
		{Name: LatencyLog, write: log, compare: func(stored []byte, how comparison) []Difference {
			return compareLines(LatencyLog, stored, made(log), func(was, is string) (Difference, bool) {
				return compareLogLines(was, is, how.changed)
			})
		}},
		profileOf(waits),
	}
}

// profileOf returns the table latency.hgrm, the percentiles of waits.
func profileOf(waits *hdrhistogram.Histogram) Table {
	profile := func(w io.Writer) error {
		const ticksPerHalfDistance, nsPerUS = 5, 1000
		_, err := waits.PercentilesPrint(w, ticksPerHalfDistance, nsPerUS)
		return err
	}
	return Table{Name: LatencyProfile, None: waits == nil, write: profile,
		compare: func(stored []byte, _ comparison) []Difference {
			return compareLines(LatencyProfile, stored, made(profile), nil)
		}}
}

// compareLogLines compares two lines of latency.hlog, cell by cell. Histograms are decoded first, since
// versions of Go compress them differently. Comments count only if the file was changed after it was written.
func compareLogLines(was, is string, changed bool) (Difference, bool) {
	if strings.HasPrefix(was, "#") && strings.HasPrefix(is, "#") && !changed {
		return Difference{}, false
	}
	stored, made := strings.Split(was, ","), strings.Split(is, ",")
	columns := []string{"Tag", "StartTimestamp", "Interval_Length", "Interval_Max",
		"Interval_Compressed_Histogram"}
	if len(stored) != len(columns) || len(made) != len(columns) {
		return Difference{Stored: was, Made: is}, true
	}
	for i, column := range columns {
		switch {
		case stored[i] == made[i]:
		case i < len(columns)-1:
			return Difference{Column: column, Stored: stored[i], Made: made[i]}, true
		default:
			a, err := hdrhistogram.Decode([]byte(stored[i]))
			b, _ := hdrhistogram.Decode([]byte(made[i]))
			if err != nil {
				return Difference{Column: column, What: "the histogram cannot be decoded"}, true
			}
			return Difference{Column: column, Stored: describe(a), Made: describe(b)}, !a.Equals(b)
		}
	}
	return Difference{}, false
}

func describe(h *hdrhistogram.Histogram) string {
	return fmt.Sprintf("%d values up to %d ns, mean %.0f ns", h.TotalCount(), h.Max(), h.Mean())
}

func writeLog(w io.Writer, intervals []Interval) error {
	log := hdrhistogram.NewHistogramLogWriter(w)
	errs := []error{log.OutputLogFormatVersion(),
		log.OutputComment("[Latencies in nanoseconds; their maxima here in milliseconds]")}
	if len(intervals) > 0 {
		errs = append(errs, log.OutputStartTime(intervals[0].Start.UnixMilli()))
	}
	errs = append(errs, log.OutputLegend())
	for _, in := range intervals {
		errs = append(errs, log.OutputComment(fmt.Sprintf("[Trial: %d]", in.Trial)))
		for _, t := range in.Latencies {
			h := *t.Hist // a shallow copy: it shares the counts, which are only read
			h.SetTag(t.Tag)
			h.SetStartTimeMs(in.Start.UnixMilli())
			h.SetEndTimeMs(in.Start.Add(in.Length).UnixMilli())
			errs = append(errs, log.OutputIntervalHistogram(&h))
		}
	}
	return errors.Join(errs...)
}

// logLegend is the beginning of the line of headers in latency.hlog.
const logLegend = `"StartTimestamp"`

// ReadLatencies reads latency.hlog. It returns, by tag, the merged histograms of all trials.
func (f *Folder) ReadLatencies() (map[string]*hdrhistogram.Histogram, error) {
	text, err := input.ReadFile(f.File(LatencyLog), input.TableLimit)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	garbled := fmt.Errorf("reading %s: it is empty, cut off or garbled", f.File(LatencyLog))
	if !bytes.Contains(text, []byte(logLegend)) || !bytes.HasSuffix(text, []byte("\n")) {
		return nil, garbled
	}
	all := map[string]*hdrhistogram.Histogram{}
	for log := hdrhistogram.NewHistogramLogReader(bytes.NewReader(text)); ; {
		h, err := log.NextIntervalHistogram()
		if err != nil {
			return nil, garbled
		}
		if h == nil {
			return all, nil
		}
		pool(all, h.Tag(), h)
	}
}

// ReadTrialLatencies reads latency.hlog. It returns the histograms of each trial, by its number and by tag.
func (f *Folder) ReadTrialLatencies() (map[int]map[string]*hdrhistogram.Histogram, error) {
	text, err := input.ReadFile(f.File(LatencyLog), input.TableLimit)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	trial, all := 0, map[int]map[string]*hdrhistogram.Histogram{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if _, err := fmt.Sscanf(line, "#[Trial: %d]", &trial); err == nil {
			all[trial] = map[string]*hdrhistogram.Histogram{}
		}
		tag, rest, _ := strings.Cut(line, ",")
		tag, tagged := strings.CutPrefix(tag, "Tag=")
		if !tagged || all[trial] == nil {
			continue
		}
		h, err := hdrhistogram.Decode([]byte(rest[strings.LastIndex(rest, ",")+1:]))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %s of trial %d cannot be decoded: %w", f.File(LatencyLog), tag, trial,
				err)
		}
		all[trial][tag] = h
	}
	return all, nil
}

// CompareProfile compares the stored latency.hgrm with the waits of all trials; nil: the run has no waits.
func (f *Folder) CompareProfile(waits *hdrhistogram.Histogram) []Difference {
	t := profileOf(waits)
	differences, _ := f.Compare(t, "", nil)
	return differences
}

// Pool returns, by tag, the merged histograms of several trials.
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
