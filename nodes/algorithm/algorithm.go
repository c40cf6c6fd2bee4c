// Package algorithm describes algorithms as data: an [Algorithm] has a [nodes.Spec], which makes the
// machines, and what is published of the algorithm. Look-up, lists, the command validate, the fault matrix,
// checks and conformance tests read nothing else.
//
// [Exclusion] has the cost of an entry, the laws of message counts and the promise of fairness; [Leadership]
// has the promises of an elector, and [Detection] those of a failure detector. A [Flaw] says how a known
// broken algorithm fails. A [Claim] is a published figure with the run that reproduces it, a [FaultCell] the
// expected outcomes under a plan of faults.
//
// An [Instance] is an algorithm with a configuration. [Assemble] makes a [Stack], the instances that every
// node runs.
//
// The tables of algorithms are in packages mutex, election and detector; package catalog has them all.
package algorithm

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"turnstile/internal/suggest"
	"turnstile/nodes"
)

// An Algorithm is an entry of a table of algorithms. Exactly one of Mutex, Elector and Detector is set, as
// Kind says.
type Algorithm struct {
	nodes.Spec
	Aliases []string // other names of the algorithm
	Family  string   // centralized, token, permission or quorum
	Source  string   // the paper
	Summary string   // in one sentence, how it works

	Mutex    *Exclusion  // of an algorithm of mutual exclusion; otherwise nil
	Elector  *Leadership // of an elector; otherwise nil
	Detector *Detection  // of a failure detector; otherwise nil
	Flaw     *Flaw       // of an algorithm that is known to be broken; otherwise nil

	Published []Claim     // published figures besides the cost, which validate reproduces
	Faults    []FaultCell // expected outcomes in the fault matrix
}

// An Exclusion is what is published of an algorithm of mutual exclusion.
type Exclusion struct {
	Cost func(c nodes.Config) Cost
	// Exact returns the exact cost of each entry; alone says that requests come one at a time. If Exact or its
	// result is nil, the exact cost is not known.
	Exact   func(c nodes.Config, alone bool) EntryCost
	Symbols []Symbol                 // the quantities in the formulas of its cost, except N
	Bypass  func(c nodes.Config) int // most entries of others after a request is known to all; nil: any number
	Fair    nodes.Assumption         // assumptions that Bypass needs, in addition to Safe and Live
	// Fewest says that clients whose requests are known to all are served in the order of how many requests each
	// has made, fewest first, and then by ID; nil: this is not promised.
	Fewest func(c nodes.Config) bool
	// Chance says that the next entry is drawn at random, so a client may wait for any time. Its starvation is
	// then no violation.
	Chance     bool
	Identities []Identity // laws of the message counts of a run without faults
	// Minority is the promise about clients that cannot reach a majority; nil: no promise.
	Minority *Minority
	// Epochs read the epoch from a fence number, if the algorithm replaces a lost token or view by a new one
	// with a higher epoch.
	Epochs Epochs
	// Silence is the time after which a textbook version of the algorithm considers the token lost.
	Silence Silence
}

// Epochs return the epoch that is part of a fence number. The zero value says that the algorithm has no
// epochs.
type Epochs struct {
	One string // the thing that exists once in each epoch: a token or a view
	Of  func(c nodes.Config, fence uint64) uint64
}

// A Minority promises this: a client that cannot exchange messages with a majority of the clients, itself
// included, no longer enters after some time. The promise needs only bounded delays and Spec.Effective.
type Minority struct {
	// Within is the time from when the failure detector of the client suspects the others until the client no
	// longer enters.
	Within func(c nodes.Config) time.Duration
	// Keeps says that the client may still enter in an epoch that began before, for instance with a token that
	// it holds. No epoch begins in a minority.
	Keeps bool
}

// A Silence is the time without entries after which a textbook version of the algorithm considers the token
// lost. The zero value says that it never does.
type Silence struct {
	Formula string // the time as a formula, in which T is the longest message delay
	Of      func(c nodes.Config, latency, hold time.Duration) time.Duration
}

// Any is the Bypass of an algorithm that promises no bound with the given options.
const Any = -1

// Promised returns how many entries of others may come after a request is known to all, and whether the
// algorithm promises such a bound.
func (x *Exclusion) Promised(c nodes.Config) (bypass int, promised bool) {
	if x.Bypass == nil || x.Bypass(c) == Any {
		return 0, false
	}
	return x.Bypass(c), true
}

// Exclusion returns Mutex, or a zero Exclusion if it is nil.
func (a *Algorithm) Exclusion() *Exclusion { return cmp.Or(a.Mutex, &Exclusion{}) }

// Leadership returns Elector, or a zero Leadership if it is nil.
func (a *Algorithm) Leadership() *Leadership { return cmp.Or(a.Elector, &Leadership{}) }

// CostOf returns the published cost of the algorithm; if no cost is published, it returns ranges that hold
// any cost.
func (a *Algorithm) CostOf(c nodes.Config) Cost {
	if cost := a.Exclusion().Cost; cost != nil {
		return cost(c)
	}
	any := Unbounded(0)
	return Cost{Sequential: any, One: any, Saturated: any, Any: any, Delay: any}
}

// Validate returns an error if the algorithm refuses a configuration. The error says why, and what would be
// right.
func (a *Algorithm) Validate(c nodes.Config) error {
	return hinted(a.Spec.Validate(c))
}

// hinted adds to an error about an option the known name or value that the user may have meant.
func hinted(err error) error {
	var option *nodes.OptionError
	if errors.As(err, &option) {
		option.Near = suggest.Nearest(option.Word, option.Known)
	}
	return err
}

// Check returns an error that names the fields that the algorithm lacks and an algorithm of this project
// needs.
func (a *Algorithm) Check() error {
	exclusion := a.excludes()
	return a.Lacks(append(a.lacks(), named(
		field{"Aliases", len(a.Aliases) == 0 && exclusion},
		field{"Family", a.Family == ""},
		field{"Source", a.Source == ""},
		field{"Summary", a.Summary == ""},
		field{"Cost", a.Exclusion().Cost == nil && exclusion},
		field{"Faults", len(a.Faults) == 0 && a.Kind != nodes.Detection},
		field{"Flaw.At", a.Flaw != nil && a.Flaw.At.N == 0})...)...)
}

// CheckOwn returns an error that names the missing fields without which no run can be made and judged.
func (a *Algorithm) CheckOwn() error { return a.Lacks(a.lacks()...) }

// A field is the name of a field of an Algorithm, and whether it is missing.
type field struct {
	name    string
	lacking bool
}

// named returns the names of the fields that are lacking.
func named(fields ...field) (names []string) {
	for _, f := range fields {
		if f.lacking {
			names = append(names, f.name)
		}
	}
	return names
}

// lacks returns the missing fields that every algorithm needs.
func (a *Algorithm) lacks() []string {
	names := named(field{"Name", a.Name == ""})
	foreign := false
	for kind, own := range a.ofKinds() {
		if nodes.Kind(kind) == a.Kind {
			names = append(names, named(own)...)
		} else if !own.lacking {
			foreign = true
		}
	}
	return append(names, named(
		field{"Kind", foreign},
		field{"Live", a.Live == 0 && a.excludes()},
		field{"Timers", len(a.Timers) == 0 && a.timed()})...)
}

// ofKinds returns the field that each kind of algorithm has, in the order of the kinds.
func (a *Algorithm) ofKinds() [3]field {
	all := [...]field{{name: "Mutex"}, {name: "Elector"}, {name: "Detector"}}
	for i, pointer := range [...]any{a.Mutex, a.Elector, a.Detector} {
		all[i].lacking = reflect.ValueOf(pointer).IsNil()
	}
	return all
}

// excludes reports whether the algorithm is one of mutual exclusion.
func (a *Algorithm) excludes() bool { return a.Kind == nodes.MutualExclusion }

// timed reports whether the machines of the clients set timers.
func (a *Algorithm) timed() bool {
	if a.New == nil {
		return false
	}
	_, timed := a.New(nodes.Config{N: 2}).(nodes.Timed)
	return timed
}

// Options returns the options of all algorithms of a table: each name once, with the values that any
// algorithm accepts.
func Options(table []*Algorithm) []nodes.Option {
	var all []nodes.Option
	for _, algo := range table {
		for _, o := range algo.Options {
			at := slices.IndexFunc(all, func(known nodes.Option) bool { return known.Name == o.Name })
			if at < 0 {
				all = append(all, o)
				continue
			}
			for _, value := range o.Values {
				if !slices.Contains(all[at].Values, value) {
					all[at].Values = append(slices.Clip(all[at].Values), value)
				}
			}
		}
	}
	return all
}

// CheckTime returns an error unless the value of an option is a length of time from least to most.
func CheckTime(value string, least, most time.Duration, example string) error {
	d, err := time.ParseDuration(value)
	switch unit := suggest.Unit(value, "ms"); {
	case err != nil && unit != nil:
		return unit
	case err != nil:
		return fmt.Errorf("%q is no length of time, such as %s", value, example)
	case d < least || d > most:
		return fmt.Errorf("%v is not from %v to %v", d, least, most)
	}
	return nil
}

// Find returns the algorithm of table with a name or alias, in upper or lower case. The error for an unknown
// name suggests names. what is the word for an entry in errors, as in "scheme".
func Find(what string, table []*Algorithm, name string) (*Algorithm, error) {
	known := suggest.List{Aliases: map[string][]string{}, By: "list"}
	for _, algo := range table {
		for _, word := range append([]string{algo.Name}, algo.Aliases...) {
			if strings.EqualFold(word, name) {
				return algo, nil
			}
		}
		known.Names = append(known.Names, algo.Name)
		known.Aliases[algo.Name] = algo.Aliases
	}
	return nil, &UnknownError{what, name, known.Hint(name)}
}

// An UnknownError says that no algorithm of a table has a name.
type UnknownError struct{ what, name, hint string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown %s %.80q%s", e.what, e.name, e.hint)
}
