package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"

	"turnstile/bench"
	"turnstile/nodes/workload"
)

// invoked returns how the user calls this program: by its name if the search path leads to it, or else as it
// was called now, such as bin/orchestrator, which make calls.
func invoked() string {
	name := filepath.Base(os.Args[0])
	if path, err := exec.LookPath(name); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && path == ownPath() {
			return name
		}
	}
	return os.Args[0]
}

// callOn returns the command line by which a command reads the run in a folder, from where the user stands.
func callOn(command, folder string) string {
	path := fromHere(folder)
	if filepath.Base(path) == path && path != "." { // a bare name would be looked for among the result sets
		path = "." + string(filepath.Separator) + path
	}
	return invoked() + " " + command + " " + shellQuoted(path)
}

// shellQuoted returns a word as a shell takes it for one.
func shellQuoted(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+,:@", r)
	}
	if strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// commandOf returns the command that makes a run for a time with such options, under a plan.
func commandOf(row *spec, o *bench.Options, real bool, plan string) string {
	words := []string{invoked(), "simulate"}
	if real {
		words[1] = "bench"
	}
	if real && row.Leads != nil {
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
	if row.Leads == nil {
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
	if row.Leads == nil {
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
