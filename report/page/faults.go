package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"turnstile/draw"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/judge/measure"
	"turnstile/results"
)

// mostPictured is how many experiments of one kind are shown with a picture of a trial.
const mostPictured = 12

// mostFaults is how many faults of a trial are listed.
const mostFaults = 5

// A told is an experiment with one of its trials, which is drawn: the first valid trial or, if no trial is
// valid, the first one.
type told struct {
	*experiment
	folder  *results.Folder
	trial   int
	caption string
}

// pictured returns a trial of each of the first few experiments that pick chooses. more has a text that says
// how many other experiments were chosen.
func (m *maker) pictured(pick func(e *experiment) bool) (some []told, more []block) {
	left := 0
	for _, e := range m.all {
		switch {
		case !pick(e):
		case len(some) == mostPictured:
			left++
		default:
			some = append(some, m.tell(e))
		}
	}
	if left > 0 {
		more = []block{{Text: fmt.Sprintf("Only the first %d experiments are shown; %d more are in the set.",
			mostPictured, left)}}
	}
	return some, more
}

// tell returns an experiment with the trial that is drawn.
func (m *maker) tell(e *experiment) told {
	t := &e.trials[0]
	for i := range e.trials {
		if e.trials[i].Verdict == "valid" {
			t = &e.trials[i]
			break
		}
	}
	words := fmt.Sprintf("%s, %s", e.series, english.Count(e.nodes, "node", "nodes"))
	if faults := e.setting.faults(); faults != "" {
		words += ", " + faults
	}
	if t.Verdict != "valid" {
		words += ", " + t.Verdict
	}
	x := told{experiment: e, trial: t.Trial, caption: fmt.Sprintf("%s: trial %d of %s", words, t.Trial, t.Run)}
	for _, f := range m.set.Runs {
		if f.Name() == t.Run {
			x.folder = f
		}
	}
	return x
}

// faults draws and lists the trials with faults.
func (m *maker) faults() {
	some, more := m.pictured(func(e *experiment) bool { return e.setting.faulty })
	var blocks, tables []block
	for _, e := range some {
		faults, timeline, err := e.folder.Faults()
		if err != nil {
			m.Damaged = append(m.Damaged, e.folder.Name()+": "+err.Error())
			continue
		}
		faults, timeline = ofTrial(faults, e.trial, func(f *results.FaultRow) int { return f.Trial }),
			ofTrial(timeline, e.trial, func(r *results.IntervalRow) int { return r.Trial })
		if len(faults) == 0 {
			continue
		}
		if len(timeline) > 1 {
			blocks = append(blocks, m.timeline(e.caption, timeline, faults))
		}
		caption := e.caption
		if len(faults) > mostFaults {
			caption += fmt.Sprintf(", the first %d of %d faults", mostFaults, len(faults))
			faults = faults[:mostFaults]
		}
		if e.setting.columns != elections {
			tables = append(tables, block{Table: phases(caption, faults)})
		} else {
			tables = append(tables, block{Table: leaderPhases(caption, faults)})
		}
	}
	m.add("Before, during and after each fault", "no run with faults", slices.Concat(blocks, tables, more))
}

// ofTrial returns the rows of a trial.
func ofTrial[T any](rows []T, trial int, of func(*T) int) (its []T) {
	for i := range rows {
		if of(&rows[i]) == trial {
			its = append(its, rows[i])
		}
	}
	return its
}

// mostSteps is the greatest number of steps of the curve in a picture of a trial.
const mostSteps = 96

// timeline draws the entries per second and the longest waits of a trial, with its faults shaded.
func (m *maker) timeline(caption string, intervals []results.IntervalRow, faults []results.FaultRow) block {
	entries := draw.Curves{Steps: true, X: draw.Axis{Label: "time since measuring began (s)"},
		Y: draw.Axis{Label: "entries per second", Log: m.Log}, Series: []draw.Series{{}}}
	end, _ := intervals[len(intervals)-1].ToS.Value()
	for i := range faults {
		f := &faults[i]
		from, known := f.FromS.Value()
		if !known {
			continue
		}
		to, healed := f.ToS.Value()
		if !healed {
			to = end
		}
		number := strconv.Itoa(f.Number)
		entries.Windows = append(entries.Windows, draw.Band{From: from, To: max(from, to), Color: draw.Fault,
			Names: []string{number + " " + f.Fault, number}, Tip: f.Fault})
	}
	waits := entries
	waits.Series, waits.Windows = []draw.Series{{}}, slices.Clone(entries.Windows)
	for i := range waits.Windows {
		waits.Windows[i].Names = nil
	}
	step := func(c *draw.Curves, from, to, y float64) {
		c.Series[0].Points = append(c.Series[0].Points, draw.Point{X: from, Y: y}, draw.Point{X: to, Y: y})
	}
	measured := false
	for its := range slices.Chunk(intervals, (len(intervals)+mostSteps-1)/mostSteps) {
		sum, wait := 0.0, figure.Figure{}
		for _, r := range its {
			n, _ := r.Entries.Value()
			sum, wait = sum+n, figure.Max(wait, r.WaitUSMax)
		}
		from, _ := its[0].FromS.Value()
		to, _ := its[len(its)-1].ToS.Value()
		step(&entries, from, to, sum/(to-from))
		longest, known := wait.Value()
		if measured = measured || known; !known {
			longest = math.NaN() // nobody entered
		}
		step(&waits, from, to, longest)
	}
	charts := []*draw.Curves{&entries}
	if measured {
		m.scaleWaits(&waits, "longest wait of these entries")
		charts = append(charts, &waits)
	}
	return pictureBlock(m, "timeline", caption, draw.Stack(caption, charts...), intervals)
}

// phases lists the figures before, during and after each fault.
func phases(caption string, faults []results.FaultRow) *table {
	t := &table{Caption: caption, Words: 2, Head: []string{"Fault", "Phase", "Entries/s", "Wait p50", "Wait p99",
		"Messages", "Dropped", "Next entry after", "Old rate after"}}
	for i := range faults {
		f := &faults[i]
		for phase, name := range measure.Phases {
			row := []string{"", name, format.Rate(f.PerS[phase]), format.Micros(f.WaitUS[phase].P50),
				format.Micros(f.WaitUS[phase].P99), format.Whole(f.Messages[phase]), format.Whole(f.Dropped[phase]), "",
				""}
			switch phase {
			case measure.Before:
				row[0] = fmt.Sprintf("%d %s", f.Number, f.Fault)
			case measure.During:
				row[7] = format.Seconds(f.NextEntryS)
			case measure.After:
				row[7], row[8] = format.Seconds(f.HealedNextEntryS), format.Seconds(f.OldRateS)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// leaderPhases does what phases does, for a run about leaders.
func leaderPhases(caption string, faults []results.FaultRow) *table {
	t := &table{Caption: caption, Words: 2, Head: []string{"Fault", "Phase", "Elections", "Time to elect p50",
		"No leader", "Two leaders", "Messages", "All agreed after"}}
	for i := range faults {
		f := &faults[i]
		for phase, name := range measure.Phases {
			row := []string{"", name, format.Whole(f.Elections[phase]), format.Micros(f.ElectUS[phase].P50),
				format.Micros(f.LeaderlessUS[phase]), format.Micros(f.TwoLeadersUS[phase]),
				format.Whole(f.Messages[phase]), ""}
			switch phase {
			case measure.Before:
				row[0] = fmt.Sprintf("%d %s", f.Number, f.Fault)
			case measure.After:
				row[7] = format.Seconds(f.HealedAgreedS)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
