package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/figure"
	"turnstile/judge/measure"
	"turnstile/results"
)

// intervalsOf returns intervals of equal length in seconds, with given entries.
func intervalsOf(length float64, entries ...uint64) (rows []results.IntervalRow) {
	for i, n := range entries {
		rows = append(rows, results.IntervalRow{OfInterval: measure.OfInterval{Entries: figure.Count(n),
			FromS: figure.Number(float64(i) * length), ToS: figure.Number(float64(i+1) * length)}})
	}
	return rows
}

// faultFrom returns a fault between two times in seconds; it was not healed unless to is above from.
func faultFrom(number int, from, to float64) results.FaultRow {
	f := results.FaultRow{OfFault: measure.OfFault{Number: number,
		FromS: figure.Number(from), Healed: to > from}}
	if f.Healed {
		f.ToS = figure.Number(to)
	}
	return f
}

func TestTimelinePictures(t *testing.T) {
	for _, test := range []struct {
		name     string
		measured float64
		width    int
		interval float64
		entries  []uint64
		faults   []results.FaultRow
		want     string
	}{
		{"a partition", 4, 52, 0.1, []uint64{
			50, 52, 51, 50, 49, 50, 52, 50, 51, 50, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 30, 44, 50, 52, 51, 49, 50, 50, 40, 10, 5},
			[]results.FaultRow{faultFrom(1, 1, 3)}, `
                      ├─────── 1 ───────┤
      519/s ▇█▇▇▆▇█▇▇                      ▅██▇▇▇▂
            █████████▆                    ▇███████
            ██████████                   ▅████████
          0 ██████████▆                 ▃██████████▃
            ┬─────────┬────────┬─────────┬────────┬╌
    seconds 0         1        2         3        4`},
		{"faults that overlap, the last not healed", 1, 52, 0.25, []uint64{4, 0, 1, 3},
			[]results.FaultRow{faultFrom(1, 0.1, 0.6), faultFrom(2, 0.2, 0.3), faultFrom(3, 0.25, 0.3),
				faultFrom(4, 0.26, 0.9), faultFrom(5, 0.28, 0.29), faultFrom(6, 0.7, 0), faultFrom(7, 0.97, 0.98)}, `
            and 2 more faults
                      3
                    ├2─┤                           7
                ├─────── 1 ────────┤    ├─── 6 ────→
     16.0/s ██████████
            ██████████                    ██████████
            ██████████                    ██████████
          0 ██████████          ████████████████████
            ┬───────┬───────┬───────┬───────┬───────
    seconds 0       0.2     0.4     0.6     0.8`},
	} {
		windows, bars := timelineOf(intervalsOf(test.interval, test.entries...), test.faults, test.measured,
			test.width).lines()
		got := "\n" + strings.Join(append(windows, bars...), "\n")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s:\n%s\n%s", test.name, got, diff)
		}
	}
}

// No line of a picture is too wide, and no picture has too many lines.
func TestTimelinesAreAsWideAsTheyMayBe(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		length, width := r.ExpFloat64()/100, 40+r.IntN(121)
		entries := make([]uint64, 1+r.IntN(512))
		for i := range entries {
			entries[i] = r.Uint64N(1 + r.Uint64N(100))
		}
		end := length * float64(len(entries))
		var faults []results.FaultRow
		for i := range r.IntN(256) {
			from := r.Float64() * end
			faults = append(faults, faultFrom(i+1, from, from+r.NormFloat64()*end/10))
		}
		windows, bars := timelineOf(intervalsOf(length, entries...), faults, end*r.Float64(), width).lines()
		if len(windows) > faultRows+1 || len(bars) != timelineRows+2 {
			t.Fatalf("seed %d: %d lines of windows and %d of bars", seed, len(windows), len(bars))
		}
		for _, line := range append(windows, bars...) {
			if n := utf8.RuneCountInString(line); n > width {
				t.Fatalf("seed %d: %q has %d columns, more than %d", seed, line, n, width)
			}
		}
	}
}

// A run in which nothing was measured has no picture.
func TestTimelineOfNothing(t *testing.T) {
	if windows, bars := timelineOf(nil, nil, 0, 80).lines(); len(windows)+len(bars) > 0 {
		t.Error("something is drawn")
	}
	if _, bars := timelineOf(intervalsOf(1, 0, 0), nil, 2, 80).lines(); !strings.HasSuffix(bars[0], "/s") {
		t.Errorf("no entries are drawn as %q", bars[0])
	}
}
