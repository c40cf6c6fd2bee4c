package main

import (
	"fmt"
	"strings"

	"turnstile/bench"
	"turnstile/internal/terminal"
	"turnstile/nodes/workload"
)

// commandOf returns the command that makes a run for a time with such options, under a plan.
func commandOf(row *spec, o *bench.Options, real bool, plan string) string {
	words := []string{terminal.Invoked(), "simulate"}
	if real {
		words[1] = "bench"
	}
	if real && row.Elector != nil {
		words[1] = "elect"
	}
	add := func(flag string, value any) { words = append(words, "--"+flag, fmt.Sprint(value)) }
	naming := "algo"
	if words[1] == "elect" {
		naming = "scheme"
	}
	add(naming, row.Name)
	add("nodes", o.Config.N)
	implied := o.Implied(row)
	for _, option := range row.Options {
		if value := o.Config.Value(option); value != implied.Value(option) {
			add(option.Name, value)
		}
	}
	addLoad(add, &o.Workload)
	if row.Elector == nil {
		add("hold", o.Workload.Hold)
	}
	if o.Regions.None() {
		add("latency", o.Latency)
	} else {
		add("regions", "FILE") // it is not on record where they were read from
	}
	if o.Detector != "" {
		add("detector", o.Detector)
	}
	if o.Brokers > 1 {
		add("brokers", o.Brokers)
	}
	if o.Multicast {
		words = append(words, "--multicast")
	}
	if o.Config.Elect != "" {
		add("elect", o.Config.Elect)
	}
	if o.Config.Fenced {
		words = append(words, "--fenced")
	}
	if row.Elector == nil {
		add("warmup", o.Warmup)
	}
	if o.Entries > 0 {
		add("entries", o.Entries)
	} else {
		add("duration", o.Duration)
	}
	if plan != "" {
		add("plan", plan)
	}
	add("seed", o.Seed)
	return strings.Join(words, " ")
}

// addLoad adds the flags of a load.
func addLoad(add func(flag string, value any), w *workload.Workload) {
	switch w.Load {
	case workload.Closed:
		add("think", w.Think)
	case workload.Open:
		add("rate", w.Rate)
		if w.Evenly {
			add("arrivals", "even")
		}
	case workload.Campaign:
		if w.Initiators != "" {
			add("initiators", w.Initiators)
		}
		if w.CampaignEvery > 0 {
			add("campaign-every", w.CampaignEvery)
		}
	default:
		add("load", w.Load)
	}
}
