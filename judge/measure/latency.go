package measure

import (
	"math"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
	"turnstile/internal/figure"
)

// A Histogram counts durations in nanoseconds, to three significant figures. It has only the counters that
// are not zero: a run may have thousands of histograms, and all counters would take half a megabyte.
type Histogram = hdrhistogram.PackedHistogram

// A Latency is a distribution of durations. Durations that did not end, such as the waits of requests that
// never entered, count with their age at the end of the run. Leaving them out would be wrong: the longest
// waits are the least likely to end. Its zero value is empty.
type Latency struct {
	Hist *Histogram // all durations; nil: there are no durations
	open *Histogram // durations that did not end, which are in Hist too; nil: all durations ended
}

const longest = 1 << 62 // 146 years: no run lasts so long

// LatencyOf returns the Latency of a tag, given the histograms of latency.hlog by their tags.
func LatencyOf(all map[string]*Histogram, tag string) Latency {
	return Latency{Hist: all[tag], open: all[tag+OpenSuffix]}
}

// add adds a duration that has ended, or the age of one that has not.
func (l *Latency) add(ns int64, ended bool) {
	record(&l.Hist, ns)
	if !ended {
		record(&l.open, ns)
	}
}

func record(to **Histogram, ns int64) {
	if *to == nil {
		*to = hdrhistogram.NewPacked(1, longest, 3)
	}
	(*to).RecordValue(min(max(ns, 0), longest))
}

func (l *Latency) clone() (copied Latency) {
	if l.Hist != nil {
		copied.Hist = l.Hist.Clone()
	}
	if l.open != nil {
		copied.open = l.open.Clone()
	}
	return copied
}

// Count returns how many durations it has.
func (l *Latency) Count() uint64 { return countOf(l.Hist) }

// Censored returns how many durations did not end.
func (l *Latency) Censored() uint64 { return countOf(l.open) }

func countOf(h *Histogram) uint64 {
	if h == nil {
		return 0
	}
	return uint64(h.TotalCount())
}

// Resolution is how many bits of a duration a Histogram keeps.
const Resolution = 11

// BarOf returns the shortest and the longest of the durations that a Histogram counts together with ns.
func BarOf(ns int64) (from, to int64) {
	shift := max(0, bits.Len64(uint64(ns))-Resolution)
	from = ns >> shift << shift
	return from, from + 1<<shift - 1
}

// Values returns all durations in microseconds, from the shortest, as cells of a table.
func (l *Latency) Values() (all []figure.Figure) {
	if l.Hist == nil {
		return nil
	}
	for from, count := range l.Hist.ForEachBucket {
		open := int64(0)
		if l.open != nil {
			open = l.open.CountAtValue(from)
		}
		_, to := BarOf(from)
		for i := range count {
			all = append(all, microsOf(to, i >= count-open))
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
	rank, below := rankOf(q, l.Count()), uint64(0)
	for from, count := range l.Hist.ForEachBucket {
		if below += uint64(count); below >= rank {
			_, ns = BarOf(from)
			break
		}
	}
	if l.open != nil {
		for from, count := range l.open.ForEachBucket {
			if from <= ns {
				below -= uint64(count)
			}
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
