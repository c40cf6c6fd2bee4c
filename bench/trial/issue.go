package trial

import (
	"errors"
	"runtime"
	"time"

	"turnstile/hosts/cluster"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// issue has the nodes issue requests, through the warm-up and until the run's duration or entries are over.
func (t *Trial) issue() (err error) {
	// All nodes begin at one time, far enough ahead for the order to reach all of them.
	begin := t.now() + int64(20*time.Millisecond) + int64(t.Total())*int64(100*time.Microsecond)
	order := host.Order{Do: host.Issue, Begin: begin}
	if t.Entries == 0 && t.WarmsUpTo() == 0 {
		order.End = begin + int64(t.Warmup+t.Duration)
	}
	t.orders.began, t.orders.end = begin, order.End
	if err := t.orders.give(order, t.nodes.up()...); err != nil {
		return err
	}
	if err := t.nodes.wait(time.Duration(begin - t.now())); err != nil {
		return err
	}
	if err := t.Mark(begin, history.Began); err != nil {
		return err
	}
	if t.WarmsUpTo() == 0 {
		if err := t.faults.begin(begin + int64(t.Warmup)); err != nil {
			return err
		}
	}
	m := &meter{trial: t, begin: begin, end: order.End, stallDetector: t.newStallDetector()}
	defer func() {
		if err != nil && m.measuring { // record the figures measured so far
			err = errors.Join(err, m.gauge())
		}
	}()
	if t.Workload.Load == workload.Sequential {
		return t.issueOneByOne(m)
	}
	for {
		over, err := m.look()
		if over || err != nil {
			return err
		}
		if err := t.nodes.wait(m.pause()); err != nil {
			return err
		}
	}
}

// issueOneByOne has one random node at a time issue a request, and waits until the run is at rest in between,
// so that the messages of each request are known.
func (t *Trial) issueOneByOne(m *meter) error {
	drawn := uint64(0)
	for count := uint64(1); ; count++ {
		over, err := m.look()
		if err != nil {
			return err
		}
		if over {
			return nil
		}
		if err := t.nodes.mustEnd(); err != nil {
			return err
		}
		if t.Entries > 0 && count > t.Entries {
			return m.stop(t.now())
		}
		before := t.watch.read()
		if before.unknown || !t.nodes.anyoneRequests() {
			count--
			if err := t.nodes.wait(tick); err != nil {
				return err
			}
			continue
		}
		var id nodes.ID
		for again := true; again; again = !t.nodes.isUp(id) {
			drawn++
			id = nodes.ID(chance.Dice(t.Seed).Below(chance.Roll{Purpose: chance.ForNode, Count: drawn},
				t.Config.N))
		}
		r := t.Workload.Names(chance.Dice(t.Seed), id, drawn, len(t.Stack.Mutexes()))
		life := t.nodes.lives[id].incarnation
		if err := t.orders.give(host.Order{Do: host.Ask, Resource: r}, id); err != nil {
			return err
		}
		after, made, err := t.settle(m, count, id, life)
		switch {
		case err != nil:
			return err
		case !made:
			count--
			continue
		}
		if err := t.Settle(t.now(), id, after.sent-before.sent); err != nil {
			return err
		}
	}
}

// settle waits until count requests are over and, unless messages circulate, the run is at rest. A node was
// asked for the last one in its incarnation life; made is false if it has died before it made the request.
func (t *Trial) settle(m *meter, count uint64, asked nodes.ID, life uint32) (s sums, made bool, err error) {
	for turn := 0; ; turn++ {
		died := !t.nodes.isUp(asked) || t.nodes.lives[asked].incarnation != life
		s := t.watch.read()
		if died && s.requests < count && !s.unknown {
			return s, false, nil
		}
		if s.over() == count && !s.unknown {
			if t.Stack.Circulates() {
				return s, true, nil
			}
			if resting, err := t.resting(s); resting || err != nil {
				return s, true, err
			}
		}
		if err := m.stallDetector.look(s, t.now()); err != nil {
			return s, false, err
		}
		switch {
		case turn < 100: // a request takes tens of microseconds; a sleep would take a millisecond
			runtime.Gosched()
			nap(20 * time.Microsecond)
		default:
			if err := t.nodes.wait(time.Millisecond); err != nil {
				return s, false, err
			}
		}
	}
}

// follow carries out and records the faults, pauses and outages that are due.
func (t *Trial) follow(now int64) error {
	err := t.faults.follow(now)
	if err == nil {
		err = t.pauses.follow(now, t.running())
	}
	if err == nil {
		err = t.connections.follow(now)
	}
	return err
}

// readUsage reads the CPU time used so far.
func (t *Trial) readUsage() cluster.Usage {
	u := t.Site.Usage(t.connections.carriers, t.nodes.all)
	if foreign.Is(t.Config) {
		u.AddChildren(t.connections.carriers, t.nodes.all)
	}
	return u
}

// A meter follows a trial while requests are issued: it writes marks into the journal, reads the gauges of
// the machine, reports progress and detects a stall.
type meter struct {
	trial         *Trial
	begin, end    int64 // when issuing begins and ends; end is 0 if unknown, or if a number of entries ends it
	measuring     bool
	stallDetector *stallDetector
	usage         cluster.Usage // CPU time used when the measurement began
	measuredAt    int64
	serverBytes   int64 // bytes that clients and servers had exchanged when the measurement began

	reported, entries int64 // when progress was last reported, and how many entries there were then
	rate              float64
}

// look reads the counters of the nodes, and reports whether issuing is over.
func (m *meter) look() (over bool, err error) {
	t := m.trial
	s, now := t.watch.read(), t.now()
	if err := t.follow(now); err != nil {
		return false, err
	}
	if at, over, err := m.overByEntries(s); err != nil {
		return false, err
	} else if over {
		return true, m.stop(at)
	}
	if !m.measuring && m.warm(s, now) {
		if err := m.measureFrom(now); err != nil {
			return false, err
		}
	}
	if !s.open() {
		m.stallDetector.restart(s, now)
	} else if err := m.stallDetector.look(s, now); err != nil {
		return false, err
	}
	m.progress(s, now)
	if m.end != 0 && now >= m.end {
		return true, m.stop(m.end)
	}
	return false, nil
}

// overByEntries reports whether the run has made all its entries, and since when. The measurement ends as the
// last request is issued, while all clients still compete. A brief run is measured as a whole, up to the last
// exit.
func (m *meter) overByEntries(s sums) (at int64, over bool, err error) {
	t := m.trial
	if t.Entries == 0 || s.requests < t.Entries && s.dead == 0 {
		return 0, false, nil
	}
	tickets, err := t.nodes.resource.Tickets(t.nodes.ctx)
	switch {
	case err != nil:
		return 0, false, err
	case m.brief():
		at = tickets.LeftAt
		over = s.over() >= t.Entries && (at != 0 || s.dead > 0)
	default:
		at = tickets.StoppedAt
		over = at != 0 || s.dead > 0 && tickets.Issued >= t.Entries
	}
	// If nodes have died, the last request may belong to a dead node, or never be made.
	switch {
	case s.dead == 0 || over:
	case tickets.Issued >= t.Entries: // a node may have died between its ticket and its request
		if over, err = t.idle(s); err != nil {
			return 0, false, err
		}
	default:
		over = !s.unknown && !s.open() && !t.faults.pending(false) && !t.nodes.anyoneRequests()
	}
	if over && at == 0 {
		at = t.now()
	}
	return at, over, nil
}

// warmAt returns the earliest start of the measurement, or Never if a number of entries ends the warm-up.
func (m *meter) warmAt() int64 {
	switch {
	case m.trial.Entries == 0:
		return m.begin + int64(m.trial.Warmup)
	case m.brief():
		return m.begin
	}
	return workload.Never
}

// brief reports whether the run has too few entries for some of them to be a warm-up.
func (m *meter) brief() bool { return workload.Brief(m.trial.Entries, m.trial.Config.N) }

// warm reports whether the warm-up is over.
func (m *meter) warm(s sums, now int64) bool {
	t := m.trial
	switch {
	case t.Entries > 0:
		return m.brief() || s.entries >= workload.SteadyEntries*uint64(t.Config.N)
	case now < m.warmAt():
		return false
	}
	return now >= m.begin+int64(t.WarmsUpTo()) || !s.unknown && t.watch.cold() == 0
}

// measureFrom starts the measurement after the warm-up. If clients extended the warm-up, it tells the nodes
// when to end, which was unknown before.
func (m *meter) measureFrom(now int64) error {
	t, at := m.trial, max(m.begin, min(now, m.warmAt()))
	if t.WarmsUpTo() > 0 {
		at = now
		m.end = at + int64(t.Duration)
		t.orders.end = m.end
		if err := t.orders.give(host.Order{Do: host.End, End: m.end}, t.nodes.up()...); err != nil {
			return err
		}
		if err := t.faults.begin(at); err != nil {
			return err
		}
	}
	return m.measure(at)
}

// measure starts the measurement.
func (m *meter) measure(at int64) error {
	m.measuring, m.measuredAt = true, at
	m.usage = m.trial.readUsage()
	var err error
	m.serverBytes, _, err = m.trial.connections.servers.Bytes()
	return errors.Join(err, m.trial.Mark(at, history.Measuring), m.trial.counts.record(at, false))
}

// stop records that no request is issued from the time at on.
func (m *meter) stop(at int64) error {
	t := m.trial
	if !m.measuring { // the run ended before the end of the warm-up was noticed: all of it is measured
		if err := m.measure(min(at, m.begin)); err != nil {
			return err
		}
	}
	at = max(at, m.measuredAt)
	t.faults.refuse("has stopped issuing requests, and comes to rest")
	err := errors.Join(t.faults.step(t.faults.driver.End), t.Mark(at, history.Stopped),
		t.counts.record(at, false))
	if err != nil {
		return err
	}
	return m.gauge()
}

// gauge records the CPU time used since the measurement began.
func (m *meter) gauge() error {
	t := m.trial
	s := t.readUsage().Since(m.usage)
	record := func(known bool, gauge uint32, share float64) error {
		if !known {
			return nil
		}
		return t.Gauge(t.now(), gauge, int64(1e6*share))
	}
	bytes, known, err := t.connections.servers.Bytes()
	if known && err == nil {
		err = t.Gauge(t.now(), history.ServerBytes, bytes-m.serverBytes)
	}
	return errors.Join(err,
		record(s.AllKnown, history.BusyPPM, s.Busy),
		record(s.OwnKnown, history.OwnPPM, s.Own),
		record(s.AllKnown && s.OwnKnown, history.OthersPPM, s.Others),
		record(s.OwnKnown && t.Site.OwnBrokers(), history.BrokerPPM, s.BrokerCPU),
		record(s.OwnKnown && t.Site.OwnBrokers(), history.BrokerSharePPM, s.Broker),
	)
}

// pause returns how long to wait until the next look. It does not exceed the next planned time.
func (m *meter) pause() time.Duration {
	pause, now := tick, m.trial.now()
	if m.trial.Entries == 0 {
		pause = slowTick
	}
	times := []int64{m.warmAt(), m.end}
	driver := m.trial.faults.driver
	next := driver.Next()
	times = append(times, next-int64(countAhead), next)
	if driver.Waits() {
		pause = tick / 2
	}
	for _, at := range times {
		if ahead := time.Duration(at - now); ahead > 0 {
			pause = min(pause, ahead)
		}
	}
	return max(pause, 100*time.Microsecond)
}

// progress reports progress ten times a second.
func (m *meter) progress(s sums, now int64) {
	const every = int64(100 * time.Millisecond)
	if now-m.reported < every {
		return
	}
	lately := float64(int64(s.entries)-m.entries) / (float64(now-max(m.reported, m.begin)) / 1e9)
	if m.rate == 0 {
		m.rate = lately
	}
	m.rate += (lately - m.rate) / 4
	m.reported, m.entries = now, int64(s.entries)
	p := Progress{Phase: "warming up", Elapsed: time.Duration(now - m.begin), Entries: s.entries,
		PerSecond: m.rate}
	if m.measuring {
		p.Phase = "measuring"
	}
	switch t := m.trial; {
	case t.Entries > 0:
		p.Done = float64(s.entries) / float64(t.Entries)
	case m.end != 0:
		p.Done = float64(now-m.begin) / float64(m.end-m.begin)
	default: // during the warm-up
		p.Done = float64(now-m.begin) / float64(max(now, m.warmAt())+int64(t.Duration)-m.begin)
	}
	m.trial.Report(p)
}
