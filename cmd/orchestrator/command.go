package main

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/bench/option"
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
	implied := option.Implied(bench.Implied(o, row))
	if foreign.Is(o.Config) {
		programWords(addText, o.Config)
	} else {
		for _, option := range row.Options {
			if value := o.Config.Value(option); value != implied.Config.Value(option) {
				add(option.Name, value)
			}
		}
	}
	for given, value := range o.Given(&implied, real) {
		if value == "true" {
			words = append(words, "--"+given.Name)
		} else {
			add(given.Name, value)
		}
	}
	addText("plan", plan)
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
