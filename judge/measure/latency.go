package measure

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
	"turnstile/internal/figure"
)

// A Latency is a distribution of durations, in nanoseconds, to three significant figures. Durations that did
// not end, such as the waits of requests that never entered, count with their age at the end of the run.
// Leaving them out would be wrong: the longest waits are the least likely to end. Its zero value is empty.
type Latency struct {
	Hist *hdrhistogram.Histogram // all durations; nil: there are no durations
	open *hdrhistogram.Histogram // durations that did not end, which are in Hist too; nil: all durations ended
}

const longest = 1 << 62 // 146 years: no run lasts so long

// LatencyOf returns the Latency of a tag, given the histograms of latency.hlog by their tags.
func LatencyOf(all map[string]*hdrhistogram.Histogram, tag string) Latency {
	return Latency{Hist: all[tag], open: all[tag+OpenSuffix]}
}

// add adds a duration that has ended, or the age of one that has not.
func (l *Latency) add(ns int64, ended bool) {
	record(&l.Hist, ns)
	if !ended {
		record(&l.open, ns)
	}
}

func record(to **hdrhistogram.Histogram, ns int64) {
	if *to == nil {
		*to = hdrhistogram.New(1, longest, 3)
	}
	(*to).RecordValue(min(max(ns, 0), longest))
}

// Count returns how many durations it has.
func (l *Latency) Count() uint64 { return countOf(l.Hist) }

// Censored returns how many durations did not end.
func (l *Latency) Censored() uint64 { return countOf(l.open) }

func countOf(h *hdrhistogram.Histogram) uint64 {
	if h == nil {
		return 0
	}
	return uint64(h.TotalCount())
}

// Values returns all durations in microseconds, from the shortest, as cells of a table.
func (l *Latency) Values() (all []figure.Figure) {
	if l.Hist == nil {
		return nil
	}
	open := map[int64]int64{} // how many durations of a bar did not end, by its lower end
	if l.open != nil {
		for _, bar := range l.open.Distribution() {
			open[bar.From] = bar.Count
		}
	}
	for _, bar := range l.Hist.Distribution() {
		for i := range bar.Count {
			all = append(all, microsOf(bar.To, i >= bar.Count-open[bar.From]))
		}
	}
	return all
}

// Quantile returns the least duration that a share q of all do not exceed. atLeast means that the true value
// may be greater: it depends on durations that did not end.
func (l *Latency) Quantile(q float64) (ns int64, atLeast bool) {
	if l.Hist == nil {
		return 0, false
	}
	rank := rankOf(q, l.Count())
	if l.open == nil {
		// A quarter less than the rank leads to this rank, however the library rounds.
		return l.Hist.ValueAtPercentile(100 * (float64(rank) - 0.25) / float64(l.Count())), false
	}
	return quantileOf(l.Hist.Distribution(), l.open.Distribution(), rank)
}

// quantileOf returns the upper end of the bar with the duration of a rank, given the bars of all durations
// and of the open ones, in order.
func quantileOf(all, open []hdrhistogram.Bar, rank uint64) (ns int64, atLeast bool) {
	below := uint64(0)
	for _, bar := range all {
		below += uint64(bar.Count)
		if below >= rank {
			ns = bar.To
			break
		}
	}
	for _, bar := range open {
		if bar.From <= ns {
			below -= uint64(bar.Count)
		}
	}
	return ns, below < rank
}

// rankOf returns the rank of the quantile q among count values, from 1.
func rankOf(q float64, count uint64) uint64 {
	return max(1, uint64(math.Ceil(q*float64(count)-1e-9)))
}

// MicrosAt returns the quantile q in microseconds, as a cell of a table.
func (l *Latency) MicrosAt(q float64) figure.Figure {
	if l.Hist == nil {
		return figure.Figure{}
	}
	return microsOf(l.Quantile(q))
}

// microsOf returns a duration as a cell of a table.
func microsOf(ns int64, atLeast bool) figure.Figure {
	if atLeast {
		return figure.AtLeast(float64(ns) / 1e3)
	}
	return figure.Number(float64(ns) / 1e3)
}

// The tags of latencies in latency.hlog and --json. The columns of their quantiles in runs.csv begin with the
// tag and _us_.
const (
	WaitTag                 = "wait"
	QueueTag                = "queue"
	ProtocolTag             = "protocol"
	HoldTag                 = "hold"
	SynchronizationDelayTag = "sync_delay"

	ElectTag       = "elect"
	DetectionTag   = "elect_detection"
	DeclarationTag = "elect_declaration"
	AgreementTag   = "elect_agreement"
	ServingTag     = "elect_serving"
	TakeoverTag    = "takeover"
	leaderlessTag  = "leaderless"
	twoLeadersTag  = "two_leaders"
	AllAgreedTag   = "all_agreed"
)

// A LatencyKind is a latency that trials measure: its tag, its name in a summary, and its description.
type LatencyKind struct {
	Tag       string
	Name      string // name of its line of quantiles; empty: there is no such line
	One, Many string // title of its histogram, in singular and plural; empty: there is no histogram
	About     string // from when until when it lasts; %s stands for the event that ends an election
	of        func(*Measures, *Leaders) *Latency
}

// Latencies are all kinds, in the order of latency.hlog.
var Latencies = []LatencyKind{
	{WaitTag, "wait", "wait", "waits", "",
		func(m *Measures, _ *Leaders) *Latency { return &m.Wait }},
	{QueueTag, "  queue", "", "", "due to requested",
		func(m *Measures, _ *Leaders) *Latency { return &m.Queue }},
	{ProtocolTag, "  protocol", "", "", "requested to entered",
		func(m *Measures, _ *Leaders) *Latency { return &m.Protocol }},
	{HoldTag, "hold", "", "", "", func(m *Measures, _ *Leaders) *Latency { return &m.Hold }},
	{SynchronizationDelayTag, "sync delay", "", "", "exit to the next enter, if that was asked for before",
		func(m *Measures, _ *Leaders) *Latency { return &m.SynchronizationDelay }},

	{ElectTag, "elect", "election", "elections",
		"from the loss of the leader, or the start of the run, until %s",
		func(_ *Measures, l *Leaders) *Latency { return &l.Elect }},
	{DetectionTag, "  detection", "detection", "detections", "until the first node declared anything",
		func(_ *Measures, l *Leaders) *Latency { return &l.Detection }},
	{DeclarationTag, "  declared", "declaration", "declarations", "from then until the leader declared itself",
		func(_ *Measures, l *Leaders) *Latency { return &l.Declaration }},
	{AgreementTag, "  agreement", "agreement", "agreements", "from then until %s",
		func(_ *Measures, l *Leaders) *Latency { return &l.Agreement }},
	{ServingTag, "  serving", "", "", "from then until a client entered",
		func(_ *Measures, l *Leaders) *Latency { return &l.Serving }},
	{TakeoverTag, "take-overs", "take-over", "take-overs", "by restarted nodes; they are left out above",
		func(_ *Measures, l *Leaders) *Latency { return &l.Takeover }},
	{leaderlessTag, "", "stretch without a leader", "stretches without a leader", "",
		func(_ *Measures, l *Leaders) *Latency { return &l.Vacancy }},
	{twoLeadersTag, "", "stretch with two leaders", "stretches with two leaders", "",
		func(_ *Measures, l *Leaders) *Latency { return &l.Overlap }},
	{AllAgreedTag, "all agreed", "", "", "as elect, until all nodes that were up agreed, even if cut off",
		func(_ *Measures, l *Leaders) *Latency { return &l.AllAgreed }},
}

// in returns the latencies of this kind in a trial. In a run without leaders, latencies of elections are
// empty.
func (k *LatencyKind) in(m *Measures) *Latency {
	if m.Leaders == nil {
		return k.of(m, new(Leaders))
	}
	return k.of(m, m.Leaders)
}

// LatencyNamed returns the kind of latency that has a tag.
func LatencyNamed(tag string) LatencyKind {
	for _, l := range Latencies {
		if l.Tag == tag {
			return l
		}
	}
	panic("there is no latency " + tag)
}

// A sparse is a Latency for few values: a run may have thousands of them, one for each phase of each fault.
// It has the resolution of a Latency. Its zero value is empty.
type sparse struct {
	all, open     map[int64]int64 // how many durations each bar has, by its lower end
	count, censor uint64
}

// resolution is how many bits of a value an HdrHistogram of three significant figures keeps.
const resolution = 11

func lowestOf(ns int64) (low, width int64) {
	shift := max(0, bits.Len64(uint64(ns))-resolution)
	return ns >> shift << shift, 1 << shift
}

// add adds a duration that has ended, or the age of one that has not.
func (s *sparse) add(ns int64, ended bool) {
	if s.all == nil {
		s.all, s.open = map[int64]int64{}, map[int64]int64{}
	}
	low, _ := lowestOf(min(max(ns, 0), longest))
	s.all[low]++
	s.count++
	if !ended {
		s.open[low]++
		s.censor++
	}
}

func (s *sparse) clone() sparse {
	return sparse{maps.Clone(s.all), maps.Clone(s.open), s.count, s.censor}
}

// microsAt returns the quantile q in microseconds, as Latency.MicrosAt does.
func (s *sparse) microsAt(q float64) figure.Figure {
	if s.count == 0 {
		return figure.Figure{}
	}
	return microsOf(quantileOf(barsOf(s.all), barsOf(s.open), rankOf(q, s.count)))
}

func barsOf(counts map[int64]int64) (bars []hdrhistogram.Bar) {
	for _, low := range slices.Sorted(maps.Keys(counts)) {
		_, width := lowestOf(low)
		bars = append(bars, hdrhistogram.Bar{From: low, To: low + width - 1, Count: counts[low]})
	}
	return bars
}
