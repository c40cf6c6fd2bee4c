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
	LeaderlessTag  = "leaderless"
	TwoLeadersTag  = "two_leaders"
	AllAgreedTag   = "all_agreed"
)

// A LatencyKind is a latency that trials are measured for: its tag, how a summary calls it, and the words
// that say from when until when it lasts.
type LatencyKind struct {
	Tag       string
	Name      string // of a line of quantiles; empty: it has none
	One, Many string // above a histogram; empty: it has none
	About     string // %s stands for the event that ends an election
	of        func(*Measures) *Latency
}

// Latencies are all kinds, in the order of latency.hlog.
var Latencies = []LatencyKind{
	{WaitTag, "wait", "wait", "waits", "", func(m *Measures) *Latency { return &m.Wait }},
	{QueueTag, "  queue", "", "", "due to requested", func(m *Measures) *Latency { return &m.Queue }},
	{ProtocolTag, "  protocol", "", "", "requested to entered",
		func(m *Measures) *Latency { return &m.Protocol }},
	{HoldTag, "hold", "", "", "", func(m *Measures) *Latency { return &m.Hold }},
	{SynchronizationDelayTag, "sync delay", "", "", "exit to the next enter, if that was asked for before",
		func(m *Measures) *Latency { return &m.SynchronizationDelay }},

	{ElectTag, "elect", "election", "elections", "from when the leader was lost, or the run began, until %s",
		ofLeaders(func(l *Leaders) *Latency { return &l.Elect })},
	{DetectionTag, "  detection", "detection", "detections", "until the first node declared anything",
		ofLeaders(func(l *Leaders) *Latency { return &l.Detection })},
	{DeclarationTag, "  declared", "declaration", "declarations", "from then until the leader declared itself",
		ofLeaders(func(l *Leaders) *Latency { return &l.Declaration })},
	{AgreementTag, "  agreement", "agreement", "agreements", "from then until %s",
		ofLeaders(func(l *Leaders) *Latency { return &l.Agreement })},
	{ServingTag, "  serving", "", "", "from then until a client entered",
		ofLeaders(func(l *Leaders) *Latency { return &l.Serving })},
	{TakeoverTag, "take-overs", "take-over", "take-overs", "of who had come up again; they are left out above",
		ofLeaders(func(l *Leaders) *Latency { return &l.Takeover })},
	{LeaderlessTag, "", "stretch without a leader", "stretches without a leader", "",
		ofLeaders(func(l *Leaders) *Latency { return &l.Vacancy })},
	{TwoLeadersTag, "", "stretch with two leaders", "stretches with two leaders", "",
		ofLeaders(func(l *Leaders) *Latency { return &l.Overlap })},
	{AllAgreedTag, "all agreed", "", "", "from then until all that were up agreed, whatever cut them off",
		ofLeaders(func(l *Leaders) *Latency { return &l.AllAgreed })},
}

// ofLeaders returns what has a latency of a run about leaders: nil of any other run.
func ofLeaders(of func(*Leaders) *Latency) func(*Measures) *Latency {
	return func(m *Measures) *Latency {
		if m.Leaders == nil {
			return nil
		}
		return of(m.Leaders)
	}
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
