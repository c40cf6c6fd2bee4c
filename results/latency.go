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

// Latencies gathers the latencies of trials. It keeps the histograms of all trials together, and of each
// trial only its lines in latency.hlog. Its zero value has no trials.
type Latencies struct {
	Pooled map[string]*measure.Histogram // merged histograms of all trials in nanoseconds, by tag
	start  time.Time                     // when measuring began in the first trial
	lines  []string                      // of each trial, as in latency.hlog
}

// Add adds a trial: when measuring began, how long it took, and the histograms in nanoseconds.
func (l *Latencies) Add(trial int, start time.Time, length time.Duration, all []measure.Tagged) {
	if l.Pooled == nil {
		l.Pooled, l.start = map[string]*measure.Histogram{}, start
	}
	for _, t := range all {
		pool(l.Pooled, t.Tag, t.Hist)
	}
	text := made(func(w io.Writer) error { return logTrial(w, trial, start, length, all) })
	l.lines = append(l.lines, string(text))
}

// First returns the latencies of the first n trials that were added.
func (l *Latencies) First(n int) *Latencies {
	if n == len(l.lines) {
		return l
	}
	first := &Latencies{start: l.start, lines: l.lines[:n]}
	var err error
	if first.Pooled, err = pooled(made(first.write)); err != nil {
		panic(err) // a test makes sure that what is written can be read
	}
	return first
}

// Tables returns latency.hlog, which has a line per trial and tag, and latency.hgrm, which has the waits of
// all trials in microseconds. For latency.hgrm it merges histograms and averages no percentiles: the mean of
// several 99th percentiles is not a percentile of anything.
func (l *Latencies) Tables() []Table {
	waits, log := l.Pooled[measure.WaitTag], l.write
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
func profileOf(waits *measure.Histogram) Table {
	profile := func(w io.Writer) error { return writeProfile(w, waits) }
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
			a, err := hdrhistogram.DecodePacked([]byte(stored[i]))
			b, _ := hdrhistogram.DecodePacked([]byte(made[i]))
			if err != nil {
				return Difference{Column: column, What: "the histogram cannot be decoded"}, true
			}
			differs := !bytes.Equal(packed(a), packed(b))
			return Difference{Column: column, Stored: describe(a), Made: describe(b)}, differs
		}
	}
	return Difference{}, false
}

func describe(h *measure.Histogram) string {
	return fmt.Sprintf("%d values up to %d ns, mean %.0f ns", h.TotalCount(), h.Max(), h.Mean())
}

// write writes latency.hlog.
func (l *Latencies) write(w io.Writer) error {
	log := hdrhistogram.NewHistogramLogWriter(w)
	errs := []error{log.OutputLogFormatVersion(),
		log.OutputComment("[Latencies in nanoseconds; their maxima here in milliseconds]")}
	if len(l.lines) > 0 {
		errs = append(errs, log.OutputStartTime(l.start.UnixMilli()))
	}
	errs = append(errs, log.OutputLegend())
	for _, text := range l.lines {
		_, err := io.WriteString(w, text)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// logTrial writes the lines of a trial in latency.hlog.
func logTrial(w io.Writer, trial int, start time.Time, length time.Duration, all []measure.Tagged) error {
	log := hdrhistogram.NewHistogramLogWriter(w)
	errs := []error{log.OutputComment(fmt.Sprintf("[Trial: %d]", trial))}
	for _, t := range all {
		errs = append(errs, writeHistogram(w, start, length, t))
	}
	return errors.Join(errs...)
}

// logLegend is the beginning of the line of headers in latency.hlog.
const logLegend = `"StartTimestamp"`

// ReadLatencies reads latency.hlog. It returns, by tag, the merged histograms of all trials.
func (f *Folder) ReadLatencies() (map[string]*measure.Histogram, error) {
	text, err := input.ReadFile(f.File(LatencyLog), input.TableLimit)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	all, err := pooled(text)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.File(LatencyLog), err)
	}
	return all, nil
}

// pooled returns, by tag, the merged histograms of all trials in the text of latency.hlog.
func pooled(text []byte) (map[string]*measure.Histogram, error) {
	garbled := errors.New("it is empty, cut off or garbled")
	if !bytes.Contains(text, []byte(logLegend)) || !bytes.HasSuffix(text, []byte("\n")) {
		return nil, garbled
	}
	all := map[string]*measure.Histogram{}
	for log := hdrhistogram.NewHistogramLogReader(bytes.NewReader(text)); ; {
		h, err := log.NextIntervalHistogram()
		if err != nil {
			return nil, garbled
		}
		if h == nil {
			return all, nil
		}
		sparse := hdrhistogram.NewPacked(h.LowestTrackableValue(), h.HighestTrackableValue(),
			int(h.SignificantFigures()))
		sparse.MergeFrom(h)
		pool(all, h.Tag(), sparse)
	}
}

// ReadTrialLatencies reads latency.hlog. It returns the histograms of each trial, by its number and by tag.
func (f *Folder) ReadTrialLatencies() (map[int]map[string]*measure.Histogram, error) {
	text, err := input.ReadFile(f.File(LatencyLog), input.TableLimit)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	trial, all := 0, map[int]map[string]*measure.Histogram{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if _, err := fmt.Sscanf(line, "#[Trial: %d]", &trial); err == nil {
			all[trial] = map[string]*measure.Histogram{}
		}
		tag, rest, _ := strings.Cut(line, ",")
		tag, tagged := strings.CutPrefix(tag, "Tag=")
		if !tagged || all[trial] == nil {
			continue
		}
		h, err := hdrhistogram.DecodePacked([]byte(rest[strings.LastIndex(rest, ",")+1:]))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %s of trial %d cannot be decoded: %w", f.File(LatencyLog), tag, trial,
				err)
		}
		all[trial][tag] = h
	}
	return all, nil
}

// CompareProfile compares the stored latency.hgrm with the waits of all trials; nil: the run has no waits.
func (f *Folder) CompareProfile(waits *measure.Histogram) []Difference {
	t := profileOf(waits)
	differences, _ := f.Compare(t, "", nil)
	return differences
}

func pool(all map[string]*measure.Histogram, tag string, h *measure.Histogram) {
	if all[tag] == nil {
		all[tag] = h.Clone()
		return
	}
	all[tag].Merge(h)
}
