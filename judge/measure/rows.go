package measure

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/internal/figure"
	"turnstile/nodes"
)

// OfMessages returns the figures of each kind of message that codec names, in each phase.
func (m *Measures) OfMessages(codec *nodes.Codec) []OfMessages {
	var whole, steady []OfMessages
	for kind := range codec.Kinds() {
		k := m.Messages.Kinds[kind]
		row := OfMessages{
			Phase:     WholeRun,
			Refused:   figure.Count(m.Refused),
			Kind:      codec.Name(kind),
			Sent:      figure.Count(k.Sent),
			Publishes: figure.Count(k.Publishes),
			Delivered: figure.Count(k.Delivered),
		}
		if k.Bytes > 0 || k.Sent == 0 {
			row.Bytes = figure.Count(k.Bytes)
		}
		var perEntry figure.Figure
		if m.Messages.KindPerEntry != nil {
			perEntry = m.Messages.KindPerEntry[kind]
		}
		if m.Messages.Circulates {
			steady = append(steady,
				OfMessages{Phase: Steady, Kind: row.Kind, Refused: row.Refused, PerEntry: perEntry})
		} else if perEntry.Known() {
			row.PerEntry = perEntry
			row.PublishesPerEntry = figure.Ratio(float64(k.Publishes), float64(m.Entries-m.Refused))
		}
		whole = append(whole, row)
	}
	return append(whole, steady...)
}

// OpenSuffix ends the tag of a histogram of those latencies that never ended. They are in the histogram
// without the suffix too, with the age they had.
const OpenSuffix = "_open"

// A Tagged is a histogram in nanoseconds, with its tag in latency.hlog.
type Tagged struct {
	Tag  string
	Hist *hdrhistogram.Histogram
}

// Histograms returns the latencies of the trial that there are.
func (m *Measures) Histograms() (tagged []Tagged) {
	for _, l := range Latencies {
		of := l.of(m)
		if of == nil {
			continue
		}
		if of.Hist != nil {
			tagged = append(tagged, Tagged{Tag: l.Tag, Hist: of.Hist})
		}
		if of.open != nil {
			tagged = append(tagged, Tagged{Tag: l.Tag + OpenSuffix, Hist: of.open})
		}
	}
	return tagged
}

// Figures returns the figures of the trial, without those that the verdict and what was asked for say.
func (m *Measures) Figures() *Figures {
	row := new(Figures)
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
		m.Leaders.fillIn(row)
	}
	if m.Detects {
		row.Heartbeats = figure.Count(m.Messages.Heartbeats)
		row.Suspicions = figure.Count(m.Detection.Suspicions)
		row.SuspicionsWrong = figure.Count(m.Detection.Wrong)
		row.WrongPerHour = m.WrongPerHour
		row.DetectionUSMean, row.DetectionUSMax = m.detection()
	}
	return row
}

// detection returns the mean and the greatest time of detection, in microseconds. If a crash was not detected
// while the history lasted, they are greater.
func (m *Measures) detection() (mean, most figure.Figure) {
	d := &m.Detection
	count := float64(d.Detected + d.Undetected)
	if count == 0 {
		return
	}
	number := figure.Number
	if d.Undetected > 0 {
		number = figure.AtLeast
	}
	return number(float64(d.Sum) / 1e3 / count), number(float64(d.Most) / 1e3)
}

func (m *Measures) fillCounts(row *Figures) {
	row.WarmupTookS, row.DurationS = m.WarmupS, m.DurationS
	row.Clients = figure.Count(m.Clients)
	row.Entries = figure.Count(m.Entries)
	row.EntriesAccepted, row.EntriesRefused = figure.Count(m.Entries-m.Refused), figure.Count(m.Refused)
	row.EntriesInWindow, row.AcceptedInWindow = m.EntriesInWindow, m.AcceptedInWindow
	row.EntriesPerS = m.EntriesPerS
	row.Messages = figure.Count(m.Messages.Sent)
	row.Publishes = figure.Count(m.Messages.Publishes)
	row.MessagesPerEntry = m.Messages.PerEntry
	row.PublishesPerEntry = m.Messages.PublishesPerEntry
	row.BytesPerEntry = m.Messages.BytesPerEntry
	row.OneEntryMin, row.OneEntryMean, row.OneEntryMax = m.Messages.OneEntry()
	row.Unfinished = figure.Count(m.Unfinished + m.Unissued)
	row.IssuedShare = m.IssuedShare
}

func (m *Measures) fillLatencies(row *Figures) {
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

func (m *Measures) fillFairness(row *Figures) {
	row.Utilisation, row.OverlapUS = m.Utilisation, m.OverlapUS
	row.JainIndex = m.Jain
	row.EntriesNodeMin, row.EntriesNodeMax = m.EntriesNodeMin, m.EntriesNodeMax
	row.OvertakenMax, row.OvertakenMean = m.OvertakenMax, m.OvertakenMean
}
