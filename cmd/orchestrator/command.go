package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
)

// commandOf returns the command that makes a run for a time with such options, under a plan, for a shell. The
// path that --server-program has named is not on record.
func commandOf(row *spec, o *bench.Options, real bool, plan string) string {
	problem, naming := check.ProblemOf(row), simulateRuns.naming
	words := []string{terminal.Invoked(), "simulate"}
	if real {
		words[1], naming = problem.Command, runCommands[problem.Command].naming
	}
	add := func(flag string, value any) {
		words = append(words, "--"+flag, terminal.ShellQuoted(fmt.Sprint(value)))
	}
	addText := func(flag, text string) {
		if text != "" {
			add(flag, text)
		}
	}
	if !foreign.Is(o.Config) {
		add(naming, row.Name)
	}
	add("nodes", o.Config.N)
	if foreign.Is(o.Config) {
		programWords(addText, o.Config)
	} else {
		implied := o.Implied(row)
		for _, option := range row.Options {
			if value := o.Config.Value(option); value != implied.Value(option) {
				add(option.Name, value)
			}
		}
	}
	if units := o.Config.Units; units > 0 && units != row.Explicit(nodes.Config{N: o.Config.N}).Units {
		add("units", units)
	}
	if o.Resources > 1 {
		add("resources", cmp.Or(o.ResourceNames, fmt.Sprint(o.Resources)))
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

// programWords adds the flags that name a foreign program or a service, with what it is told.
func programWords(add func(flag, text string), c nodes.Config) {
	if service := c.Options[foreign.ServiceOption]; service != "" {
		add(foreign.ServiceOption, service)
		var with []string
		for option, value := range foreign.OptionsOf(c) {
			switch option {
			case bench.EndpointOption:
				add(option, value)
			case bench.ServerVersionOption, bench.ClientVersionOption: // what was found
			default:
				with = append(with, option+"="+value)
			}
		}
		slices.Sort(with)
		add("with", strings.Join(with, ","))
		return
	}
	for _, flag := range foreignNames {
		add(flag, c.Options[flag])
	}
}
