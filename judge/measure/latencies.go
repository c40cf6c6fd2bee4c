package measure

// The tags of latencies in latency.hlog, by which --json has them too. The columns of their quantiles in
// runs.csv begin with the tag and _us_.
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

// A LatencyKind is a latency that trials are measured for: its tag, how a summary calls it, and the words
// that say from when until when it lasts.
type LatencyKind struct {
	Tag       string
	Name      string // of a line of quantiles; empty: it has none
	One, Many string // above a histogram; empty: it has none
	About     string // %s stands for the event that ends an election
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

	{ElectTag, "elect", "election", "elections", "from when the leader was lost, or the run began, until %s",
		func(_ *Measures, l *Leaders) *Latency { return &l.Elect }},
	{DetectionTag, "  detection", "detection", "detections", "until the first node declared anything",
		func(_ *Measures, l *Leaders) *Latency { return &l.Detection }},
	{DeclarationTag, "  declared", "declaration", "declarations", "from then until the leader declared itself",
		func(_ *Measures, l *Leaders) *Latency { return &l.Declaration }},
	{AgreementTag, "  agreement", "agreement", "agreements", "from then until %s",
		func(_ *Measures, l *Leaders) *Latency { return &l.Agreement }},
	{ServingTag, "  serving", "", "", "from then until a client entered",
		func(_ *Measures, l *Leaders) *Latency { return &l.Serving }},
	{TakeoverTag, "take-overs", "take-over", "take-overs", "of who had come up again; they are left out above",
		func(_ *Measures, l *Leaders) *Latency { return &l.Takeover }},
	{leaderlessTag, "", "stretch without a leader", "stretches without a leader", "",
		func(_ *Measures, l *Leaders) *Latency { return &l.Vacancy }},
	{twoLeadersTag, "", "stretch with two leaders", "stretches with two leaders", "",
		func(_ *Measures, l *Leaders) *Latency { return &l.Overlap }},
	{AllAgreedTag, "all agreed", "", "", "from then until all that were up agreed, whatever cut them off",
		func(_ *Measures, l *Leaders) *Latency { return &l.AllAgreed }},
}

// in returns the latencies of this kind in a trial. Those of leaders are empty in a run without leaders.
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
