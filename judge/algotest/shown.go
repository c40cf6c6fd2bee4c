package algotest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// An Assembler makes the stack in which an algorithm runs. A detector runs beside some algorithm; other
// algorithms run beside their detectors.
type Assembler func(of *algorithm.Algorithm, c nodes.Config) *algorithm.Stack

// Options demands that a figure in nodes.Option.Shows tells every value of every option of the algorithms
// apart, and that the figure holds.
func Options(t *testing.T, table []*algorithm.Algorithm, stack Assembler) {
	for _, of := range table {
		for i := range of.Options {
			o := &of.Options[i]
			t.Run(of.Name+"/"+o.Name, func(t *testing.T) {
				t.Parallel()
				if untold := untold(o); len(untold) > 0 {
					t.Errorf("nothing tells %s %s apart: state it in nodes.Option.Shows", o.Name,
						strings.Join(untold, ", "))
				}
				for _, wrong := range Wrong(t, of, o, stack) {
					t.Error(wrong)
				}
				for rule, to := range mixUps(o) {
					if len(Wrong(t, taking(of, o.Name, to), o, stack)) == 0 {
						t.Errorf("nothing shows that %s", rule)
					}
				}
			})
		}
	}
}

// untold returns the values of an option that no figure tells apart.
func untold(o *nodes.Option) (values []string) {
	told := map[string]bool{}
	for _, s := range o.Shows {
		told[s.Value] = true
		told[s.Than] = s.Than != "" || told[""]
	}
	delete(told, "")
	if o.Values == nil && len(told) < 2 {
		return []string{"with a second value"}
	}
	return slices.DeleteFunc(slices.Clone(o.Values), func(value string) bool { return told[value] })
}

// mixUps returns the ways to confuse the values of an option: a machine takes every value for the default,
// one value for the default, or two values for each other.
func mixUps(o *nodes.Option) map[string]func(value string) string {
	all := map[string]func(string) string{
		"the option does nothing": func(string) string { return o.Default },
	}
	for _, s := range o.Shows {
		for _, other := range slices.Concat(o.Values, []string{s.Than}) {
			same := other == s.Than && s.Least == 1 && s.Most == 1
			if other == "" || other == s.Value || same {
				continue
			}
			all[fmt.Sprintf("%s is taken for %s, and %s for %s", s.Value, other, other,
				s.Value)] = func(v string) string {
				switch v {
				case s.Value:
					return other
				case other:
					return s.Value
				}
				return v
			}
		}
	}
	return all
}

// taking returns a copy of an algorithm whose machines take one value of an option for another.
func taking(of *algorithm.Algorithm, option string, to func(value string) string) *algorithm.Algorithm {
	algo := *of
	changed := func(c nodes.Config) nodes.Config {
		return c.With(option, to(c.Value(*of.Option(option))))
	}
	algo.New = func(c nodes.Config) nodes.Machine { return of.New(changed(c)) }
	if of.NewServer != nil {
		algo.NewServer = func(c nodes.Config, id nodes.ID) nodes.Machine { return of.NewServer(changed(c), id) }
	}
	if of.Told != nil {
		algo.Told = func(c nodes.Config) time.Duration { return of.Told(changed(c)) }
	}
	return &algo
}

// Accuracy demands that every detector states figures of its accuracy, and that they hold.
func Accuracy(t *testing.T, table []*algorithm.Algorithm, stack Assembler) {
	for _, of := range table {
		if len(of.Detector.Shows) == 0 {
			t.Errorf("%s states no figures in algorithm.Detection.Shows", of.Name)
		}
		for _, wrong := range Wrong(t, of, &nodes.Option{Shows: of.Detector.Shows}, stack) {
			t.Errorf("%s: %s", of.Name, wrong)
		}
	}
}

// InaccurateMutants demands that each mutant of a detector fails a figure of its accuracy.
func InaccurateMutants(t *testing.T, mutants []Mutant, stack Assembler) {
	for _, m := range mutants {
		if len(Wrong(t, m.Algorithm, &nodes.Option{Shows: m.Algorithm.Detector.Shows}, stack)) == 0 {
			t.Errorf("%s: no figure shows that %s", m.Algorithm.Name, m.Rule)
		}
	}
}

// OptionMutants demands that each mutant fails a statement about the option that its rule begins with, as in
// "priority: the highest comes first".
func OptionMutants(t *testing.T, mutants []Mutant, stack Assembler) {
	for _, m := range mutants {
		t.Run(m.Algorithm.Name+"/"+m.Rule, func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(m.Rule, ":")
			wrong := Wrong(t, m.Algorithm, m.Algorithm.Option(name), stack)
			if len(wrong) == 0 {
				t.Error("no statement about the option shows it")
			}
			t.Log(strings.Join(wrong, "\n"))
		})
	}
}

// Wrong returns the statements about an option of an algorithm that do not hold.
func Wrong(t testing.TB, of *algorithm.Algorithm, o *nodes.Option, stack Assembler) (all []string) {
	for _, s := range o.Shows {
		figure, than := shown(t, of, o.Name, s.Value, s, stack), 1.0
		if s.Than != "" {
			than = shown(t, of, o.Name, s.Than, s, stack)
		}
		says := fmt.Sprintf("%s %s: %s is %.4g", o.Name, s.Value, s.Figure, figure)
		if s.Than != "" {
			says = fmt.Sprintf("%s, and %.4g times as much as with %s", says, figure/than, s.Than)
		}
		t.Log(says)
		if got := figure / than; !(got >= s.Least && got <= s.Most) {
			all = append(all, fmt.Sprintf("%s, and not from %v to %v", says, s.Least, s.Most))
		}
	}
	return all
}

// shown returns the figure of a run.
func shown(t testing.TB, of *algorithm.Algorithm, option, value string, s nodes.Shown,
	stack Assembler) float64 {
	t.Helper()
	c := nodes.Config{N: cmp.Or(s.N, 5), Elect: s.Elect}
	for one := range strings.FieldsSeq(s.With) {
		name, value, _ := strings.Cut(one, "=")
		c = c.With(name, value)
	}
	c = of.Explicit(c.With(option, value))
	if err := of.Validate(c); err != nil {
		t.Fatal(err)
	}
	r := runOf{largest: map[string]float64{}, received: map[string]map[uintptr]float64{}}
	if strings.HasPrefix(s.Figure, "largest ") || strings.HasPrefix(s.Figure, "spread of ") {
		of = Deaf{Misreads: r.watch}.Of(of)
	}
	o := sim.Options{Stack: stack(of, c), Seed: 1, Duration: cmp.Or(s.For, time.Second),
		Reordering: of.Safe&nodes.FIFO == 0,
		Multicast:  true, Patience: 100_000}
	o.Workload = workload.Workload{Load: cmp.Or(workload.Load(s.Load), workload.Closed),
		Think: Drawn("exponential:10ms"),
		Hold:  chance.Constant(cmp.Or(s.Hold, 3*time.Millisecond))}
	switch of.Kind {
	case nodes.Election:
		o.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.Initiators(s.Load)}
	case nodes.Detection:
		o.Workload.Think = chance.Constant(2 * o.Duration)
	}
	var faults []chaos.Fault
	for _, text := range s.Faults {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		faults = append(faults, f)
	}
	Over(&o, NetworkOf(cmp.Or(s.Latency, "1ms")), faults...)
	r.stack, r.ran = o.Stack, float64(o.Duration)
	r.h = &history.History{}
	folds := []history.Fold{r.h}
	if check.ProblemOf(of).Leads {
		r.leads = leadership.New(c, of.Elector)
		folds = append(folds, r.leads)
	}
	switch result, err := sim.Run(o, folds...); {
	case err != nil:
		t.Fatal(err)
	case result.Cut != nil:
		return math.NaN() // a mutant panicked
	}
	figure, known := r.figure(s.Figure)
	if !known {
		t.Fatalf("there is no figure %q", s.Figure)
	}
	return figure
}

// A runOf is a run whose figures are wanted.
type runOf struct {
	stack   *algorithm.Stack
	h       *history.History
	leads   *leadership.Fold
	ran     float64
	largest map[string]float64
	// received has how many messages of each kind each machine has received.
	received map[string]map[uintptr]float64
}

// watch notes the messages that a machine receives, and the largest number in each of their fields.
func (r *runOf) watch(machine, m reflect.Value) {
	kind := nodes.KindName(m.Interface())
	if r.received[kind] == nil {
		r.received[kind] = map[uintptr]float64{}
	}
	r.received[kind][machine.Addr().Pointer()]++
	for i := range m.NumField() {
		if f := m.Field(i); f.CanUint() {
			name := kind + "." + strings.ToLower(m.Type().Field(i).Name)
			r.largest[name] = max(r.largest[name], float64(f.Uint()))
		}
	}
}

// Figures are the figures of statements about options. KIND is a kind of messages.
//
//	entries                  how often clients entered
//	messages per entry, KIND per entry, publishes per entry
//	KIND sent                in the whole run, by all nodes; "messages sent" are those of all kinds
//	largest KIND.FIELD       the largest number in a field of messages
//	spread of KIND           messages that a node received: the most, less the least
//	order by KEY             the share of entries in the order of a key, of those for which another client
//	                         waited: request (when it was made), id, fewest (entries so far), longest-ago
//	                         (its latest exit), next (after the client that left, cyclically)
//	wait                     mean time from request to entry, in seconds
//	wait of the last         the same of the last node, by that of node 0
//	longest pause            longest time without an entry, in seconds
//	overlaps                 entries while another client was inside
//	leader                   the last leader that all agree on; -1: they do not agree
//	first leader             when a node first led, in seconds
//	settled                  when a node last took another one for the leader, in seconds
//	leaderless, two leaders  for how long that was, in seconds
//	given up                 how often a leader that was up was given up
//	suspicions               how often a detector suspected a node
//	first suspicion, last suspicion  when, in seconds; "suspicions take" is the time between them
func (r *runOf) figure(name string) (value float64, known bool) {
	if key, is := strings.CutPrefix(name, "order by "); is {
		return r.order(key)
	}
	if field, is := strings.CutPrefix(name, "largest "); is {
		value, known = r.largest[field]
		return value, known
	}
	if kind, is := strings.CutPrefix(name, "spread of "); is {
		all := slices.Collect(maps.Values(r.received[kind]))
		return slices.Max(all) - slices.Min(all), true
	}
	if kind, is := strings.CutSuffix(name, " per entry"); is {
		value, known = r.sent(kind)
		entries, _ := r.of(history.Entered)
		return value / entries, known
	}
	if kind, is := strings.CutSuffix(name, " sent"); is {
		return r.sent(kind)
	}
	seconds := func(ns float64) (float64, bool) { return ns / 1e9, true }
	switch name {
	case "entries":
		count, _ := r.of(history.Entered)
		return count, true
	case "suspicions":
		count, _ := r.of(history.Suspected)
		return count, true
	case "suspicions take":
		_, at := r.of(history.Suspected)
		if len(at) == 0 {
			return 0, true
		}
		return seconds(at[len(at)-1] - at[0])
	case "first suspicion", "last suspicion":
		_, at := r.of(history.Suspected)
		if len(at) == 0 {
			return seconds(r.ran)
		}
		if name == "last suspicion" {
			return seconds(at[len(at)-1])
		}
		return seconds(at[0])
	case "longest pause":
		_, at := r.of(history.Entered)
		longest, last := 0.0, 0.0
		for _, now := range append(at, r.ran) {
			longest, last = max(longest, now-last), now
		}
		return seconds(longest)
	case "wait", "wait of the last":
		return r.waits(name == "wait"), true
	case "overlaps":
		return r.overlaps(), true
	}
	return r.leading(name)
}

// of returns how many events of a kind there were, and when.
func (r *runOf) of(kind history.Kind) (count float64, at []float64) {
	for _, e := range r.h.Events {
		if e.Kind == kind {
			at = append(at, float64(e.At))
		}
	}
	return float64(len(at)), at
}

// sent returns how many messages of a kind were sent, or of all kinds: messages, or their publishes.
func (r *runOf) sent(kind string) (count float64, known bool) {
	codec := r.stack.Codec()
	for i, k := range history.Sum(r.h.Logs).Kinds {
		switch kind {
		case "publishes":
			count += float64(k.Publishes)
		case "messages", codec.Name(i):
			count += float64(k.Sent)
		}
	}
	return count, kind == "messages" || kind == "publishes" || slices.Contains(codec.Names(), kind)
}

// waits returns the mean wait of all nodes, or that of the last by that of node 0.
func (r *runOf) waits(all bool) float64 {
	asked, sum, count := map[nodes.ID]int64{}, map[nodes.ID]float64{}, map[nodes.ID]float64{}
	for _, e := range r.h.Events {
		switch e.Kind {
		case history.Requested:
			asked[e.Node] = e.At
		case history.Entered:
			for _, id := range []nodes.ID{e.Node, nodes.None} {
				sum[id] += float64(e.At-asked[e.Node]) / 1e9
				count[id]++
			}
		}
	}
	if all {
		return sum[nodes.None] / count[nodes.None]
	}
	last := nodes.ID(r.stack.N() - 1)
	return sum[last] / count[last] * count[0] / sum[0]
}

func (r *runOf) overlaps() (count float64) {
	inside := map[nodes.ID]bool{}
	for _, e := range r.h.Events {
		switch e.Kind {
		case history.Entered:
			if inside[e.Node] = true; len(inside) > 1 {
				count++
			}
		case history.Exited, history.Crashed, history.Revoked:
			delete(inside, e.Node)
		}
	}
	return count
}

// order returns the share of entries that were in the order of a key. A request counts only if all nodes knew
// of it when the client before left.
func (r *runOf) order(key string) (share float64, known bool) {
	const slack = int64(3 * time.Millisecond) // longer than messages take
	asked, left, entered := map[nodes.ID]int64{}, map[nodes.ID]int64{}, map[nodes.ID]int64{}
	exit, before := int64(0), nodes.ID(0)
	n := nodes.ID(r.stack.N())
	keys := map[string]func(id nodes.ID) int64{
		"request":     func(id nodes.ID) int64 { return asked[id] },
		"id":          func(id nodes.ID) int64 { return int64(id) * 2 * slack },
		"fewest":      func(id nodes.ID) int64 { return (entered[id]*int64(n) + int64(id)) * 2 * slack },
		"longest-ago": func(id nodes.ID) int64 { return left[id] },
		"next":        func(id nodes.ID) int64 { return int64((id-before-1+n)%n) * 2 * slack },
	}
	of, known := keys[key]
	right, all := 0.0, 0.0
	for _, e := range r.h.Events {
		switch {
		case !known:
		case e.Kind == history.Requested:
			asked[e.Node] = e.At
		case e.Kind == history.Exited:
			exit, before, left[e.Node] = e.At, e.Node, e.At
		case e.Kind == history.Entered:
			others, first := 0, true
			for id, at := range asked {
				if id != e.Node && at < exit-slack {
					others++
					first = first && of(e.Node) <= of(id)+slack
				}
			}
			if others > 0 {
				if all++; first {
					right++
				}
			}
			delete(asked, e.Node)
			entered[e.Node]++
		}
	}
	return right / max(1, all), known
}

// leading returns the figures of elections.
func (r *runOf) leading(name string) (value float64, known bool) {
	switch f := r.leads; name {
	case "leader":
		if last := f.AgreedAtEnd(); last != nil {
			return float64(last.Leader), true
		}
		return -1, true
	case "first leader":
		for _, b := range f.Beliefs {
			if b.Leader == b.Node {
				return float64(b.From-f.Begun) / 1e9, true
			}
		}
		return math.Inf(1), true
	case "settled":
		last := f.Begun
		for _, b := range f.Beliefs {
			last = max(last, b.From)
		}
		return float64(last-f.Begun) / 1e9, true
	case "leaderless":
		return float64(f.Leaderless) / 1e9, true
	case "two leaders":
		return float64(f.TwoLeaders) / 1e9, true
	case "given up":
		return float64(len(f.Flaps)), true
	}
	return 0, false
}
