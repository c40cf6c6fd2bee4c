package results

import (
	"reflect"

	"turnstile/internal/figure"
	"turnstile/judge/measure"
)

// A Row is what runs.csv says of one trial: what was asked for and what came of it. docs/measures.md explains
// each column. Columns are in the order of the fields; a new one may go anywhere, since files are read by
// their header.
type Row struct {
	Run     string `csv:"run,outside"`
	Trial   int    `csv:"trial"` // from 1
	Version string `csv:"version"`
	Seed    uint64 `csv:"seed"`
	Asked

	HoldUS    figure.Figure `csv:"hold_us"` // the means of what was asked for
	ThinkUS   figure.Figure `csv:"think_us"`
	LatencyUS figure.Figure `csv:"latency_injected_us"`

	measure.Figures

	Verdict string `csv:"verdict"`
	Reason  string `csv:"reason,outside"`
}

// Asked is what a run was asked to be. Trials that agree in it, and in the version, are repetitions of one
// experiment.
type Asked struct {
	Kind      string            `csv:"kind"` // bench or simulate
	Algorithm string            `csv:"algorithm"`
	Nodes     int               `csv:"nodes"` // clients
	Options   map[string]string `csv:"*"`     // of the algorithm: a column each
	Hosts     int               `csv:"hosts"`
	Units     int               `csv:"units"` // of each resource
	Resources int               `csv:"resources"`

	Load string `csv:"load"`
	// Initiators are who campaigns when a run about leaders begins.
	Initiators string `csv:"initiators"`
	// CampaignEveryS is how long after each campaign they campaign again; empty: they do so once.
	CampaignEveryS figure.Figure `csv:"campaign_every_s"`
	Whole          figure.Figure `csv:"whole"` // share of requests for all units
	Hold           string        `csv:"hold"`  // distributions, as in flags
	Think          string        `csv:"think"`
	RatePerS       figure.Figure `csv:"rate_per_s"` // of each node
	Arrivals       string        `csv:"arrivals"`

	Latency   string        `csv:"latency"`
	Regions   string        `csv:"regions"`
	Multicast bool          `csv:"multicast"`
	Plan      string        `csv:"plan"`           // of the faults, by its name
	Faults    string        `csv:"faults,outside"` // in words
	Detector  string        `csv:"detector"`       // beside the algorithm, with its options
	Elect     string        `csv:"elect"`          // the elector beside the algorithm, whose leader it follows
	Fenced    bool          `csv:"fenced"`         // the resource demands fence numbers
	NATS      string        `csv:"nats"`
	Brokers   figure.Figure `csv:"brokers"` // of the run's own
	Proxies   bool          `csv:"proxies"` // messages run through them

	WarmupS        figure.Figure `csv:"warmup_s"`
	WarmupLimitS   figure.Figure `csv:"warmup_limit_s"`
	DurationAskedS figure.Figure `csv:"duration_asked_s"`
	EntriesAsked   figure.Figure `csv:"entries_asked"`
	PatienceS      figure.Figure `csv:"patience_s"`
}

// Medians returns a row of the medians of the rows' figures: of each among the rows that measured it. Its
// other cells are empty.
func Medians(rows []Row) (medians Row) {
	for _, c := range columnsOf(reflect.TypeFor[Row](), nil) {
		if !c.figures {
			continue
		}
		var known []figure.Figure
		for i := range rows {
			if f := c.of(reflect.ValueOf(rows[i])).(figure.Figure); f.Known() {
				known = append(known, f)
			}
		}
		c.in(reflect.ValueOf(&medians).Elem()).Set(reflect.ValueOf(figure.MedianOf(known)))
	}
	return medians
}

// A MessageRow is what messages.csv says of one kind of message in one phase of a trial.
type MessageRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfMessages
}
