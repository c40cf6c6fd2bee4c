package main

import (
	"fmt"
	"strings"

	"turnstile/bench"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
)

// commandOf returns the command that makes a run for a time with such options, under a plan.
func commandOf(row *spec, o *bench.Options, real bool, plan string) string {
	problem, naming := check.ProblemOf(row), simulateRuns.naming
	words := []string{terminal.Invoked(), "simulate"}
	if real {
		words[1], naming = problem.Command, runCommands[problem.Command].naming
	}
	add := func(flag string, value any) { words = append(words, "--"+flag, fmt.Sprint(value)) }
	addText := func(flag, text string) {
		if text != "" {
			add(flag, text)
		}
	}
	add(naming, row.Name)
	add("nodes", o.Config.N)
	implied := o.Implied(row)
	for _, option := range row.Options {
		if value := o.Config.Value(option); value != implied.Value(option) {
			add(option.Name, value)
		}
	}
	demandOf(problem).words(add, &o.Workload)
	if o.Regions.None() {
		add("latency", o.Latency)
	} else {
		add("regions", "FILE") // it is not on record where they were read from
	}
	addText("detector", o.Detector)
	if o.Brokers > 1 {
		add("brokers", o.Brokers)
	}
	if o.Hosts > 0 {
		add("hosts", o.Hosts)
	}
	addText("place", o.Place)
	if real {
		addText("resource", o.Resource)
	}
	if o.Multicast {
		words = append(words, "--multicast")
	}
	addText("elect", o.Config.Elect)
	if o.Config.Fenced {
		words = append(words, "--fenced")
	}
	demandOf(problem).warmWords(add, o)
	if o.Entries > 0 {
		add("entries", o.Entries)
	} else {
		add("duration", o.Duration)
	}
	addText("plan", plan)
	add("seed", o.Seed)
	return strings.Join(words, " ")
}
