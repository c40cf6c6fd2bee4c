package measure

import (
	"time"
	"turnstile/nodes"
	"turnstile/results"
)

// MessageRows returns the rows of messages.csv, of the kinds that codec names.
func (m *Measures) MessageRows(codec *nodes.Codec) []results.MessageRow {
	var whole, steady []results.MessageRow
	for kind := range codec.Kinds() {
		k := m.Messages.Kinds[kind]
		row := results.MessageRow{
			Phase:     results.WholeRun,
			Refused:   results.Count(m.Refused),
			Kind:      codec.Name(kind),
			Sent:      results.Count(k.Sent),
			Publishes: results.Count(k.Publishes),
			Delivered: results.Count(k.Delivered),
		}
		if k.Bytes > 0 || k.Sent == 0 {
			row.Bytes = results.Count(k.Bytes)
		}
		var perEntry results.Figure
		if m.Messages.KindPerEntry != nil {
			perEntry = m.Messages.KindPerEntry[kind]
		}
		if m.Messages.Circulates {
			steady = append(steady,
				results.MessageRow{Phase: results.Steady, Kind: row.Kind, Refused: row.Refused, PerEntry: perEntry})
		} else if perEntry.Known() {
			row.PerEntry = perEntry
			row.PublishesPerEntry = results.Ratio(float64(k.Publishes), float64(m.Entries-m.Refused))
		}
		whole = append(whole, row)
	}
	return append(whole, steady...)
}

// The tags of the latencies in latency.hlog, beside results.WaitTag.
const (
	QueueTag                = "queue"
	ProtocolTag             = "protocol"
	HoldTag                 = "hold"
	SynchronizationDelayTag = "sync_delay"
)

// A taggedLatency is a latency with its tag in latency.hlog.
type taggedLatency struct {
	tag string
	of  *Latency
}

// Interval returns the latencies of the trial for latency.hlog. began is its zero of time.
func (m *Measures) Interval(trial int, began time.Time) results.Interval {
	in := results.Interval{
		Trial:  trial,
		Start:  began.Add(time.Duration(m.Window.From)),
		Length: time.Duration(m.Window.Length()),
	}
	all := []taggedLatency{
		{results.WaitTag, &m.Wait}, {QueueTag, &m.Queue}, {ProtocolTag, &m.Protocol}, {HoldTag, &m.Hold},
		{SynchronizationDelayTag, &m.SynchronizationDelay},
	}
	if m.Leaders != nil {
		all = append(all, m.Leaders.tagged()...)
	}
	for _, t := range all {
		if t.of.Hist != nil {
			in.Latencies = append(in.Latencies, results.Tagged{Tag: t.tag, Hist: t.of.Hist})
		}
		if t.of.open != nil {
			in.Latencies = append(in.Latencies, results.Tagged{Tag: t.tag + results.OpenSuffix, Hist: t.of.open})
		}
	}
	return in
}

// Fill puts the measures into a row of runs.csv. Columns of what was asked for
// and of the verdict are left to the caller.
func (m *Measures) Fill(row *results.Row) {
	m.fillCounts(row)
	m.fillLatencies(row)
	m.fillFairness(row)
	row.TimerLateUSP50, row.TimerLateUSP99 = m.TimerLateUS.P50, m.TimerLateUS.P99
	row.TimerLateUSMax = m.TimerLateUS.Max
	row.CPUBusy, row.BrokerCPU = m.CPUBusy, m.BrokerCPU
	row.OwnCPU, row.BrokerShare, row.OthersCPU = m.OwnCPU, m.BrokerShare, m.OthersCPU
	row.NodeRSSMB, row.ReadyMS = m.NodeRSSMB, m.ReadyMS
	row.PauseSMax = m.PauseS
	if m.Leaders != nil {
		m.Leaders.Fill(row)
	}
	if m.Detects {
		row.Heartbeats = results.Count(m.Messages.Heartbeats)
		row.Suspicions = results.Count(m.Detection.Suspicions)
		row.SuspicionsWrong = results.Count(m.Detection.Wrong)
		row.WrongPerHour = m.WrongPerHour
		row.DetectionUSMean, row.DetectionUSMax = m.detection()
	}
}

// detection returns the mean and the greatest time of detection, in microseconds. If a crash was not detected
// while the history lasted, they are greater.
func (m *Measures) detection() (mean, most results.Figure) {
	d := &m.Detection
	count := float64(d.Detected + d.Undetected)
	if count == 0 {
		return
	}
	figure := results.Number
	if d.Undetected > 0 {
		figure = results.AtLeast
	}
	return figure(float64(d.Sum) / 1e3 / count), figure(float64(d.Most) / 1e3)
}

func (m *Measures) fillCounts(row *results.Row) {
	row.WarmupTookS, row.DurationS = m.WarmupS, m.DurationS
	row.Clients = results.Count(m.Clients)
	row.Entries = results.Count(m.Entries)
	row.EntriesAccepted, row.EntriesRefused = results.Count(m.Entries-m.Refused), results.Count(m.Refused)
	row.EntriesInWindow, row.AcceptedInWindow = m.EntriesInWindow, m.AcceptedInWindow
	row.EntriesPerS = m.EntriesPerS
	row.Messages = results.Count(m.Messages.Sent)
	row.Publishes = results.Count(m.Messages.Publishes)
	row.MessagesPerEntry = m.Messages.PerEntry
	row.PublishesPerEntry = m.Messages.PublishesPerEntry
	row.BytesPerEntry = m.Messages.BytesPerEntry
	row.OneEntryMin, row.OneEntryMean, row.OneEntryMax = m.Messages.OneEntry()
	row.Unfinished = results.Count(m.Unfinished + m.Unissued)
	row.IssuedShare = m.IssuedShare
}

func (m *Measures) fillLatencies(row *results.Row) {
	row.WaitUSP50, row.WaitUSP90 = m.Wait.MicrosAt(0.5), m.Wait.MicrosAt(0.9)
	row.WaitUSP99, row.WaitUSP999 = m.Wait.MicrosAt(0.99), m.Wait.MicrosAt(0.999)
	row.WaitUSMax = m.Wait.MicrosAt(1)
	row.QueueUSP50, row.QueueUSP99 = m.Queue.MicrosAt(0.5), m.Queue.MicrosAt(0.99)
	row.ProtocolUSP50, row.ProtocolUSP99 = m.Protocol.MicrosAt(0.5), m.Protocol.MicrosAt(0.99)
	row.HoldUSP50, row.HoldUSP99 = m.Hold.MicrosAt(0.5), m.Hold.MicrosAt(0.99)
	row.SynchronizationDelayUSP50 = m.SynchronizationDelay.MicrosAt(0.5)
	row.SynchronizationDelayUSP99 = m.SynchronizationDelay.MicrosAt(0.99)
	row.ClientDelayP50 = m.ClientDelay.MicrosAt(0.5)
	row.UncontendedP50 = m.Uncontended.MicrosAt(0.5)
}

func (m *Measures) fillFairness(row *results.Row) {
	row.Utilisation, row.OverlapUS = m.Utilisation, m.OverlapUS
	row.JainIndex = m.Jain
	row.EntriesNodeMin, row.EntriesNodeMax = m.EntriesNodeMin, m.EntriesNodeMax
	row.OvertakenMax, row.OvertakenMean = m.OvertakenMax, m.OvertakenMean
}
