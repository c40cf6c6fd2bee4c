package measure

import (
	"turnstile/internal/figure"
	"turnstile/judge/section"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A Fold computes the Measures of a trial. It observes the fold of its sections.
type Fold struct {
	Measures Measures // complete once the fold is closed
	sections *section.Fold
	load     workload.Load

	requests          uint64  // requests that are over, and overlap the window
	overtaken         uint64  // how often these requests were overtaken, in all
	most              uint64  // how often one of these requests was overtaken at most
	gaveUp            bool    // some requests were never served: they might have been overtaken more often
	givenUp           uint64  // requests that their clients gave up
	serverBytes       float64 // bytes that clients and servers exchanged while measuring
	countsServerBytes bool

	largest int64  // the largest resident memory of a node, in units of 1024 bytes
	clients uint64 // clients that requested in the whole run
	loss    lossNotices
	ofOne   ofOne // sequential load: messages of a single request
}

// New returns a fold of the same history as s, of a run with a load.
func New(s *section.Fold, load workload.Load) *Fold {
	f := &Fold{sections: s, load: load}
	s.Observe(f)
	return f
}

func (f *Fold) has(at int64) bool { return f.sections.Window.Has(at) }

// Asked implements section.Observer.
func (f *Fold) Asked(s *section.Section) {
	asked := uint32(0) // how many requests the client has made so far, for any resource
	for _, r := range f.sections.Resources {
		if r != nil && int(s.Node) < len(r.Clients) {
			asked += r.Clients[s.Node].Asked
		}
	}
	if asked == 1 {
		f.clients++
	}
}

// Entered implements section.Observer.
func (f *Fold) Entered(s *section.Section) {
	m := &f.Measures
	if s.Handed && f.has(s.Entered) {
		m.SynchronizationDelay.add(s.Entered-s.FreedAt, true)
	}
	f.waited(s, s.Entered)
	m.divided.waited(s, s.Entered, f.sections.Window)
}

// Ended implements section.Observer.
func (f *Fold) Ended(s *section.Section) {
	m := &f.Measures
	if s.Served() {
		f.loss.add(s, f.sections.StampError())
	}
	m.divided.ended(s, f.sections.Window)
	switch {
	case s.State == section.Unissued:
		m.Unissued++
		if f.sections.Window.Touches(s.Due, s.Ended) {
			m.Wait.add(s.Ended-s.Due, false)
			m.Queue.add(s.Ended-s.Due, false)
		}
	case !s.Served():
		if s.State == section.GaveUp {
			f.givenUp++
		} else {
			m.Unserved++
		}
		f.waited(s, s.Ended)
		m.divided.waited(s, s.Ended, f.sections.Window)
	case f.has(s.Entered):
		m.Hold.add(s.Ended-s.Entered, s.State != section.Crashed && s.State != section.Unended)
	}
}

// waited takes a request whose wait is over: it was served, or its section has ended.
func (f *Fold) waited(s *section.Section, at int64) {
	m, served := &f.Measures, s.Served()
	if f.sections.Window.Touches(s.Due, at) {
		m.Wait.add(at-s.Due, served)
		m.Queue.add(s.Asked-s.Due, true)
		m.Protocol.add(at-s.Asked, served)
		if s.Alone {
			m.Uncontended.add(at-s.Asked, served)
		}
	}
	if !f.sections.Window.Touches(s.Asked, at) {
		return
	}
	f.requests++
	f.gaveUp = f.gaveUp || !served
	f.overtaken += s.Overtaken
	f.most = max(f.most, s.Overtaken)
}

// Add implements history.Fold.
func (f *Fold) Add(e history.Event) {
	switch e.Kind {
	case history.Sent: // messages of an elector beside the algorithm do not count
		f.Measures.Circulates = f.Measures.Circulates || e.Instance == 0
	case history.Settled:
		if e.At >= f.sections.Window.From {
			f.ofOne.add(e.Value)
		}
	case history.Gauged:
		f.gauge(e)
	}
}

func (f *Fold) gauge(e history.Event) {
	m, value := &f.Measures, float64(e.Value)
	switch e.Count {
	case history.BusyPPM:
		m.CPUBusy = figure.Number(value / 1e6)
	case history.BrokerPPM:
		m.BrokerCPU = figure.Number(value / 1e6)
	case history.OwnPPM:
		m.OwnCPU = figure.Number(value / 1e6)
	case history.BrokerSharePPM:
		m.BrokerShare = figure.Number(value / 1e6)
	case history.OthersPPM:
		m.OthersCPU = figure.Number(value / 1e6)
	case history.ServerBytes:
		f.serverBytes, f.countsServerBytes = value, true
	case history.ReadyUS:
		m.ReadyMS = figure.Number(value / 1e3)
	case history.ResidentKB:
		f.largest = max(f.largest, e.Value)
		m.NodeRSSMB = figure.Number(float64(f.largest) / 1024)
	}
}

// Close implements history.Fold.
func (f *Fold) Close(logs []*history.NodeLog) {
	m, s := &f.Measures, f.sections
	m.Window = s.Window
	m.Clients, m.Unfinished = figure.Count(f.clients), figure.Count(m.Unserved+m.Unissued)
	m.Entries, m.EntriesRefused = figure.Count(s.Entries), figure.Count(s.Refused)
	m.EntriesAccepted = figure.Count(s.Entries - s.Refused)
	if began := s.Marks[history.Began]; began.Seen && m.Window.Known() {
		m.WarmupTookS = seconds(m.Window.From - began.At)
	}
	if length := float64(m.Window.Length()) / 1e9; m.Window.Known() {
		m.DurationS = figure.Number(length)
		m.EntriesInWindow = figure.Count(s.EntriesInWindow)
		accepted := s.EntriesInWindow - s.RefusedInWindow
		m.AcceptedInWindow = figure.Count(accepted)
		m.EntriesPerS = figure.Ratio(float64(accepted), length)
		if f.countsServerBytes {
			m.ServerBytesPerEntry = figure.Ratio(f.serverBytes, float64(accepted))
		}
		// Under other loads all requests are issued when they are due. Which ones were not issued is known only
		// after issuing has stopped.
		if f.load == workload.Open && s.Marks[history.Stopped].Seen {
			m.IssuedShare = figure.Ratio(float64(s.Issued), float64(s.Due))
			m.ServedShare = figure.Ratio(float64(accepted), float64(s.Due))
		}
		f.share()
	}
	f.contend()
	f.units()
	single := f.single()
	f.work(single)
	f.noticed(single)
	f.guard(single)
	f.countMessages(logs)
	f.detect()
	if f.load == workload.Sequential {
		m.ClientDelayP50 = m.Wait.MicrosAt(0.5)
	}
	// As for latencies, this takes the upper end of the bucket of a quantile.
	for q, column := range map[float64]*number{0.5: &m.TimerLateUSP50, 0.99: &m.TimerLateUSP99,
		1: &m.TimerLateUSMax} {
		if ns, known := s.Timers().Quantile(q); known {
			*column = micros(ns)
		}
	}
	if e := s.ClockError(); e > 0 && e < history.Unknowable {
		m.ClockErrorUS = micros(e)
	}
	var pause int64
	for _, p := range s.Pauses {
		pause = max(pause, p.To-p.From)
	}
	m.PauseSMax = seconds(pause)
}

// detect measures the failure detector. If a crash was not detected before the history ended, the mean and
// the longest time of detection are lower bounds.
func (f *Fold) detect() {
	m, s := &f.Measures, f.sections
	m.Detection = s.Detection
	if !s.Detects {
		return
	}
	d := &s.Detection
	m.Suspicions, m.SuspicionsWrong = figure.Count(d.Suspicions), figure.Count(d.Wrong)
	m.WrongStill = figure.Count(d.WrongStill)
	if began := s.Marks[history.Began]; began.Seen {
		m.WrongPerHour = figure.Ratio(float64(d.Wrong), float64(s.End-began.At)/3600e9)
	}
	if count := float64(d.Detected + d.Undetected); count > 0 {
		number := figure.Number
		if d.Undetected > 0 {
			number = figure.AtLeast
		}
		m.DetectionUSMean, m.DetectionUSMax = number(float64(d.Sum)/1e3/count), number(float64(d.Most)/1e3)
	}
}

// share measures the distribution of the entries in the window, of all resources, over the nodes that
// requested.
func (f *Fold) share() {
	var clients, sum, squares float64
	var least, most uint32
	var none uint64
	for _, c := range f.byNode() {
		n := c.InWindow
		if c.Asked+c.Entered+c.Unissued == 0 {
			continue
		}
		if clients == 0 {
			least = n
		}
		if least, most = min(least, n), max(most, n); n == 0 {
			none++
		}
		clients++
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if clients > 0 {
		m := &f.Measures
		m.JainIndex = figure.Ratio(sum*sum, clients*squares)
		m.EntriesNodeMin, m.EntriesNodeMax = figure.Count(uint64(least)), figure.Count(uint64(most))
		m.WithoutEntry = figure.Count(none)
	}
}

// byNode adds up the clients of each node.
func (f *Fold) byNode() (all []section.Client) {
	for _, r := range f.sections.Resources {
		if r == nil {
			continue
		}
		for id, c := range r.Clients {
			if id == len(all) {
				all = append(all, section.Client{})
			}
			of := &all[id]
			of.Asked, of.Entered = of.Asked+c.Asked, of.Entered+c.Entered
			of.Unissued, of.InWindow = of.Unissued+c.Unissued, of.InWindow+c.InWindow
		}
	}
	return all
}

// contend measures utilisation, overlaps and overtaking.
func (f *Fold) contend() {
	m := &f.Measures
	var busy, overlap int64
	var contended uint64
	asked := false
	for _, r := range f.sections.Resources {
		if r != nil {
			asked = true
			busy += r.Busy
			overlap += r.Overlap
			contended += r.Contended
			m.divided.used(r)
		}
	}
	if !asked {
		return
	}
	m.OverlapUS, m.Contended = figure.Number(float64(overlap)/1e3), figure.Count(contended)
	if length := float64(m.Window.Length()); m.Window.Known() {
		m.Utilisation = figure.Ratio(float64(f.sections.Busy()), length)
		if named := f.sections.Named; named > 1 {
			m.UtilisationMean = figure.Ratio(float64(busy), length*float64(named))
		}
	}
	if f.requests == 0 {
		return
	}
	bound := figure.Number
	if f.gaveUp {
		bound = figure.AtLeast
	}
	m.OvertakenMax = bound(float64(f.most))
	m.OvertakenMean = bound(float64(f.overtaken) / float64(f.requests))
}

// ofOne counts the messages of single requests.
type ofOne struct {
	count, sum  float64
	least, most int64
}

func (o *ofOne) add(messages int64) {
	if o.count == 0 {
		o.least = messages
	}
	o.least, o.most = min(o.least, messages), max(o.most, messages)
	o.count++
	o.sum += float64(messages)
}

// countMessages sums up the counters of the nodes, and divides them by the entries.
func (f *Fold) countMessages(logs []*history.NodeLog) {
	m, sum := &f.Measures, history.Sum(logs)
	m.Resent = sum.Resent
	copy(m.Kinds[:], sum.Kinds)
	var heartbeats, sent, publishes, bytes uint64
	for kind, k := range m.Kinds {
		if f.sections.Heartbeat(kind) {
			heartbeats += k.Sent
			continue
		}
		sent += k.Sent
		publishes += k.Publishes
		bytes += k.Bytes
	}
	m.Messages, m.Publishes = figure.Count(sent), figure.Count(publishes)
	if f.sections.Detects || heartbeats > 0 {
		m.Heartbeats = figure.Count(heartbeats)
	}
	f.countRoundTrips(logs)
	if o := &f.ofOne; o.count > 0 {
		m.OneEntryMin, m.OneEntryMax = figure.Number(float64(o.least)), figure.Number(float64(o.most))
		m.OneEntryMean = figure.Ratio(o.sum, o.count)
	}
	perEntry, byKind, ok := f.sections.MessagesPerEntry(&sum, m.Circulates, false)
	if !ok {
		return
	}
	m.MessagesPerEntry, m.KindPerEntry = figure.Number(perEntry), make([]figure.Figure, len(byKind))
	m.Complete()
	for kind, n := range byKind {
		if !f.sections.Heartbeat(kind) { // heartbeats belong to no entry
			m.KindPerEntry[kind] = figure.Number(n)
		}
	}
	if !m.Circulates {
		accepted := float64(f.sections.Entries - f.sections.Refused)
		m.PublishesPerEntry = figure.Ratio(float64(publishes), accepted)
		if bytes > 0 || sent == 0 { // in a simulation messages have no bytes
			m.BytesPerEntry = figure.Ratio(float64(bytes), accepted)
		}
	}
}

// countRoundTrips counts the questions of nodes to a resource process, if the run has one.
func (f *Fold) countRoundTrips(logs []*history.NodeLog) {
	var count, ns uint64
	for _, l := range logs {
		count += l.Totals.RoundTrips
		ns += l.Totals.RoundTripNS
	}
	if count == 0 {
		return
	}
	f.Measures.ResourceRoundTripsPerEntry = figure.Ratio(float64(count), float64(f.sections.Entries))
	f.Measures.ResourceUSMean = figure.Ratio(float64(ns)/1e3, float64(count))
}

// lossNotices counts the entries whose client was told that it had lost the lock, or should have been told.
type lossNotices struct {
	all, stayed uint64 // clients that were told of the loss; how many of these went on
	inside      int64  // for how long they went on, in nanoseconds
	most        int64  // the longest time that a client went on
	open        bool   // a client still went on when the history ended
	untold      uint64 // clients that were not told of the loss before another client entered
	after       int64  // the longest time from then until one of these was told, or its section ended
	never       bool   // one of these was never told
	forNothing  uint64 // clients that were told of the loss, went on, and were alone inside
}

// add takes an entry that has ended.
func (t *lossNotices) add(s *section.Section, stampError int64) {
	if s.Late(stampError) {
		t.untold++
		told := s.Ended
		if s.Told {
			told = s.ToldAt
		}
		t.after, t.never = max(t.after, told-s.Followed), t.never || !s.Told
	}
	if !s.Told {
		return
	}
	t.all++
	if length := s.Ended - s.ToldAt; s.State != section.Revoked || length > 0 {
		t.stayed++
		if !s.Met {
			t.forNothing++
		}
		t.inside += length
		t.most = max(t.most, length)
		t.open = t.open || s.State == section.Unended
	}
}

// noticed measures what clients heard of their lock. That is unknown unless machines report it. If several
// may be inside, it is unknown which entry took the units that another had lost.
func (f *Fold) noticed(single bool) {
	m, t := &f.Measures, &f.loss
	var tries, free uint64
	for _, r := range f.sections.Resources {
		if r != nil {
			tries, free = tries+r.Tries, free+r.FreeTries
		}
	}
	if !f.sections.Informs && t.all+tries == 0 {
		return
	}
	m.GivenUp = figure.Count(f.givenUp)
	m.RefusedTries, m.RefusedFree = figure.Count(tries), figure.Count(free)
	m.EntriesTold, m.ToldStayed = figure.Count(t.all), figure.Count(t.stayed)
	number := figure.Number
	if t.open {
		number = figure.AtLeast
	}
	m.ToldInsideUS = number(float64(t.inside) / 1e3)
	if t.stayed > 0 {
		m.ToldInsideUSMax = number(float64(t.most) / 1e3)
	}
	if !single {
		return
	}
	m.OverlappedUntold, m.ToldForNothing = figure.Count(t.untold), figure.Count(t.forNothing)
	if t.untold > 0 {
		number = figure.Number
		if t.never {
			number = figure.AtLeast
		}
		m.ToldAfterUSMax = number(float64(t.after) / 1e3)
	}
}

// guard counts the overlapping entries that fence numbers do not prevent. The count is unknown unless each
// entry had a number.
func (f *Fold) guard(single bool) {
	var entries, sure, maybe uint64
	for _, r := range f.sections.Resources {
		if r == nil {
			continue
		}
		if r.Unfenced > 0 {
			return
		}
		sure, maybe = sure+r.Unguarded, maybe+r.MaybeUnguarded
		for i := range r.Clients {
			entries += uint64(r.Clients[i].Entered)
		}
	}
	switch m := &f.Measures; {
	case entries == 0 || !single, sure == 0 && maybe > 0:
	case maybe > 0:
		m.ViolationsFenced = figure.AtLeast(float64(sure))
	default:
		m.ViolationsFenced = figure.Count(sure)
	}
}

// work counts the work that clients did inside, unless several may be inside: then the account counts
// nothing.
func (f *Fold) work(single bool) {
	if !single || f.sections.Entries == 0 {
		return
	}
	var done, spoilt, undone uint64
	for _, r := range f.sections.Resources {
		if r != nil {
			d, s := r.Worked(f.sections.Work)
			done, spoilt, undone = done+d, spoilt+s, undone+r.Undone()
		}
	}
	m := &f.Measures
	m.WorkDone, m.WorkSpoilt = figure.Count(done), figure.Count(spoilt)
	if f.sections.Work == workload.Shares {
		m.SharesUndone = figure.Count(undone)
	}
}

// single reports whether all resources have a capacity of 1.
func (f *Fold) single() bool {
	for _, r := range f.sections.Resources {
		if r != nil && r.Capacity > 1 {
			return false
		}
	}
	return true
}
