package study

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"turnstile/bench/runs"
	"turnstile/bench/service"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes/algorithm"
	"turnstile/results"
)

// A HuntFound is a known failure that the run of a plan shows.
type HuntFound struct {
	Line    string `json:"line"`    // its Key
	Command string `json:"command"` // the command of the run that shows it, without what it does not need
}

// Key names the line: its number and its service with options.
func (l *ServiceLine) Key() string { return fmt.Sprintf("%d %s", l.Number, l.Text()) }

// Fails returns the expected failure of the service in words, or "" if the line expects none.
func (l *ServiceLine) Fails() string {
	strict, _ := outcomesOf(l.Strict) // no error: check has parsed it
	switch {
	case l.Silence > 0:
		return fmt.Sprintf("nobody enters for %v", l.Silence)
	case l.Refuses:
		return "a free lock is refused"
	case strict&algorithm.Breaks == 0:
		return ""
	case l.Lasts:
		return "two inside, for longer than the faults"
	}
	return "two inside"
}

// hasMark reports whether a run of the line shows what tells its failure from others with the same outcomes:
// a silence, refusals, or overlaps that outlast the faults.
func (l *ServiceLine) hasMark(r *ServiceRun) bool {
	return l.Silence == 0 && !l.Refuses && !l.Lasts || l.shownBy(r, l)
}

// shownBy reports whether a run of a drawn plan shows the failure of the line: strict X, and what fences make
// of it, as the line has it; or its silence, or its refusals.
func (l *ServiceLine) shownBy(r *ServiceRun, drawn *ServiceLine) bool {
	fenced, _ := outcomesOf(l.Fenced)
	seconds, _ := r.SilenceS.Value()
	switch {
	case l.Silence > 0:
		return r.Strict != algorithm.Breaks && seconds >= (l.Silence+drawn.Hold).Seconds()
	case l.Refuses:
		return isMore(r.Row.RefusedFree)
	case r.Strict != algorithm.Breaks || (l.Fenced != "") != r.HasFences || r.HasFences && r.Fenced&fenced == 0:
		return false
	}
	longest := drawn.Hold
	for i := range drawn.Faults {
		longest = max(longest, drawn.Hold+drawn.Faults[i].For)
	}
	inside, _ := r.Row.OverlapUS.Value()
	led, _ := r.Row.TwoLeadersUS.Value()
	return !l.Lasts || max(inside, led) > float64(longest.Microseconds())
}

// faultKey names the kind of a fault. Two faults with one key may differ in their targets and times.
func faultKey(f *chaos.Fault) string {
	return fmt.Sprint(effect.KindOf(f.Effect).Name(), effect.OfClients(f.Effect), effect.Forgets(f.Effect),
		effect.Closes(f.Effect))
}

// spares reports whether a fault leaves clients out.
func spares(f *chaos.Fault, clients int) bool {
	of := effect.TargetOf(f.Effect)
	return of == nil || max(len(of.List), of.Many) < clients
}

// wordsOf returns the options of a drawn plan that the line names, and times and numbers that it does not
// name. It returns false if the plan lacks an option of the line: if the option is not drawn, if one with
// fixed values has another value, or if one is off in one of the two alone.
func (l *ServiceLine) wordsOf(drawn *ServiceLine, options []service.Draw) (words []string, has bool) {
	asked, drew := valuesOf(l.With), valuesOf(drawn.With)
	for _, o := range options {
		want, named := asked[o.Name]
		value, given := drew[o.Name]
		if !given {
			value = o.Default
		}
		off := o.Default == "0s" || o.Default == "off"
		switch {
		case named && (o.Fixed && value != want || off && (value == o.Default) != (want == o.Default)):
			return nil, false
		case given && (named || !o.Fixed && !off):
			words = append(words, o.Name+"="+value)
		}
		delete(asked, o.Name)
	}
	return words, len(asked) == 0
}

// reduced returns a drawn plan with only what the line names: its options (see wordsOf), and the faults of
// the kinds of the line; nil: the plan lacks some. If nobody enters while a fault hits all clients, that is
// not the failure of a line.
func (l *ServiceLine) reduced(drawn *ServiceLine, options []service.Draw) *ServiceLine {
	one, has := *drawn, false
	if one.With, has = l.wordsOf(drawn, options); !has {
		return nil
	}
	one.Demands, one.CancelAfter, one.Faults = false, 0, nil
	kinds := map[string]bool{}
	for i := range l.Faults {
		kinds[faultKey(&l.Faults[i])] = true
	}
	for _, f := range drawn.Faults {
		if _, wanted := kinds[faultKey(&f)]; wanted && (l.Silence == 0 || spares(&f, drawn.Nodes)) {
			kinds[faultKey(&f)] = false
			one.Faults = append(one.Faults, f)
		}
	}
	for _, missing := range kinds {
		if missing {
			return nil
		}
	}
	if l.Silence > 0 { // what nobody enters for must be the fault's doing
		one.Hold, one.Think = min(one.Hold, l.Hold), 0
	}
	return &one
}

// valuesOf returns the values of options by their names.
func valuesOf(words []string) map[string]string {
	values := map[string]string{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		values[name] = value
	}
	return values
}

// knownRuns is how often a reduced plan is run to see whether it shows the known failure.
const knownRuns = 2

// recall returns the known failures that a drawn plan finds first. A plan finds a line by three runs. The run
// of the plan shows the failure of the line. A run of the reduced plan shows it, too: see reduced. A third
// run lacks the faults of the line, or its options if it has no faults, and does not show the failure. So
// these cause the failure.
func (h *Hunt) recall(ctx context.Context, name string, drawn *ServiceLine, made *runs.Run) (
	all []HuntFound) {
	shows := readRun(made, drawn)
	for _, l := range h.Known {
		if shows == nil {
			return nil
		}
		if l.Service != drawn.Service || h.found(l) || !l.shownBy(shows, drawn) {
			continue
		}
		one := l.reduced(drawn, h.Draws(drawn.Service))
		for try := 0; one != nil && try < knownRuns; try++ {
			called := fmt.Sprintf("%s-line-%d-%d", name, l.Number, try)
			command, shown, _ := h.showsKnown(ctx, called, l, one)
			if !shown {
				continue
			}
			_, anyway, judged := h.showsKnown(ctx, called+"-without", l, l.without(one))
			if !judged {
				continue
			}
			if !anyway {
				all = append(all, HuntFound{l.Key(), command})
			}
			break
		}
	}
	return all
}

// without returns a reduced plan without the faults of the line or, if it has none, without its options.
func (l *ServiceLine) without(reduced *ServiceLine) *ServiceLine {
	one := *reduced
	if one.Faults = nil; len(l.Faults) == 0 {
		one.With = nil
	}
	return &one
}

// documented returns a known failure of a service's own client that explains what a check of safety found in
// a run, or why a fence number fell, by the options of the run, whatever its faults: one without faults, or
// one that goes on when they are over; nil: there is no such failure.
func (h *Hunt) documented(drawn *ServiceLine, made *runs.Run, about string) *ServiceLine {
	shows := readRun(made, drawn)
	if h.Client != "" || shows == nil || about != huntFences &&
		(shows.Strict != algorithm.Breaks || !made.Trials[0].Verdict.BreaksSafety(about)) {
		return nil
	}
	for _, l := range ServiceLines() {
		if l.Service != drawn.Service || l.Refuses || len(l.Faults) > 0 && !l.Lasts || l.Fails() == "" {
			continue
		}
		_, has := l.wordsOf(drawn, h.Draws(drawn.Service))
		fenced, _ := outcomesOf(l.Fenced)
		if has && (about != huntFences || fenced&algorithm.Breaks != 0) {
			return l
		}
	}
	return nil
}

// readRun reads what a run shows; nil: nothing, since it was not made or did not end well.
func readRun(run *runs.Run, of *ServiceLine) *ServiceRun {
	if run == nil || len(run.Trials) == 0 || run.Trials[0].Trouble != "" {
		return nil
	}
	c := &ServiceCase{Line: of, Subject: &ServiceSubject{Spec: run.Spec}}
	c.judge(run.Folder, run, nil)
	return c.Runs[0]
}

// showsKnown reports whether a run of a reduced plan shows a line, and whether it shows anything. It returns
// the command of a run that shows the line.
func (h *Hunt) showsKnown(ctx context.Context, name string, l, one *ServiceLine) (command string,
	shows, judged bool) {
	subject, err := h.Subject(ctx, one.Service, one.With, one.Nodes)
	if err != nil {
		return "", false, false
	}
	if subject.Holds > 0 { // an option that is left out may have renewed the lock
		one.Hold = min(one.Hold, subject.Holds*6/10)
	}
	j, err := one.Job(subject, chance.Dice(h.Seed).Bits(chance.Roll{})>>32)
	if err != nil {
		return "", false, false
	}
	limited, cancel := context.WithTimeout(ctx, huntLimit)
	defer cancel()
	made := h.once(limited, &Case{Job: j, Stored: true, Name: name})
	if made.run == nil {
		return "", false, false
	}
	if r := readRun(made.run, one); r == nil || !l.shownBy(r, one) {
		h.discard(made.run)
		return "", false, r != nil && !r.showsNothing()
	}
	told := &Hunted{Says: "it shows line " + l.Key()}
	h.describe(told, one, j, made.run.Folder)
	return told.Command, true, true
}

// found reports whether a plan has found a line.
func (h *Hunt) found(l *ServiceLine) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.Done {
		if slices.ContainsFunc(one.Found, func(f HuntFound) bool { return f.Line == l.Key() }) {
			return true
		}
	}
	return false
}

// sought reports whether a plan for a service may find something: in a hunt for known failures, a line that
// no plan has found.
func (h *Hunt) sought(service string) bool {
	return h.Known == nil || slices.ContainsFunc(h.Known, func(l *ServiceLine) bool {
		return l.Service == service && l.Fails() != "" && !h.found(l)
	})
}

// Recall returns a row for each known line: after how many plans of its service it was found.
func (h *Hunt) Recall() (rows []results.RecallRow) {
	for _, l := range h.Known {
		row := results.RecallRow{Line: l.Number, Service: l.Text(), Fault: l.FaultText(), Fails: l.Fails()}
		for number, one := range h.Done {
			if one.Service != l.Service {
				continue
			}
			row.Plans++
			for _, f := range one.Found {
				if after := number/len(h.Services) + 1; f.Line == l.Key() && (row.After == 0 || after < row.After) {
					row.After, row.Call = after, f.Command
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}
