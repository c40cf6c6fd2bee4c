// Package row has the rows of the tables of algorithms: what makes their machines (nodes.Spec), and what is
// published of them. Look-up, lists, validate, the fault matrix, checks and tests of conformance read rows.
//
// A [Row] has a pointer for each kind of algorithm: [Exclusion] has the cost of an entry, the laws of
// message counts and the promise of fairness; [Leadership] what an elector promises of its leaders; [Flaw]
// how a known broken algorithm fails. A [Claim] is a published figure with the trial that reproduces it, a
// [FaultCell] what becomes of the algorithm under a plan.
//
// An [Instance] is a row with a configuration, and a [Stack] the instances of every node: [Assemble] makes
// it.
//
// It lists no algorithm: the tables are in packages mutex, election and detector, and package catalog has
// all.
package row

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/internal/suggest"
	"turnstile/nodes"
)

// A Row is one row of a table of algorithms: a Spec, and what is said of it. What only one kind of row has is
// behind a pointer of its own.
type Row struct {
	nodes.Spec
	Aliases []string // other names for it
	Family  string   // centralized, token, permission or quorum
	Source  string   // the paper
	Summary string   // in one sentence, how it works

	Mutex   *Exclusion  // of an algorithm of mutual exclusion; otherwise nil
	Elector *Leadership // what an elector promises of its leaders; otherwise nil

	Detector *Detection // what a failure detector promises; otherwise nil
	Flaw     *Flaw      // of one that is known to be broken; otherwise nil

	Published []Claim     // figures for validate to reproduce, beyond its cost
	Faults    []FaultCell // what becomes of it in the fault matrix
}

// An Exclusion is what is published of an algorithm of mutual exclusion.
type Exclusion struct {
	Cost    func(c nodes.Config) Cost
	Exact   func(c nodes.Config, alone bool) EntryCost // alone: one at a time; nil, or of nil: unknown
	Symbols []Symbol                                   // of its cost, beside N
	Bypass  func(c nodes.Config) int                   // entries of others once a request is known; nil: any
	Fair    nodes.Assumption                           // what Bypass rests on, beside Safe and Live
	// Fewest says that a request that one message has told all of comes before those of clients that have made
	// more, and before those of higher IDs that have made as many; nil: that is not promised.
	Fewest func(c nodes.Config) bool
	// Chance says that who enters next is a matter of chance, so that a client may get nothing for any time
	// while others enter. That it does is no finding then.
	Chance     bool
	Identities []Identity // of its message counts, after a run without faults
	// Minority is what it promises of clients that reach no majority; nil: nothing.
	Minority *Minority
	// Epochs are what its fence numbers begin with, if it goes on under a higher one when what lets in was lost.
	Epochs Epochs
	// Silence is when a textbook takes what lets in for lost.
	Silence Silence
}

// Epochs tell of a fence number in which epoch it was handed out. The zero value says that there are none.
type Epochs struct {
	One string // what there is one of in each: token, view
	Of  func(c nodes.Config, fence uint64) uint64
}

// A Minority is what is promised of a client that reaches no majority of the clients, itself included,
// neither way: it enters no more, from some time after on. It rests on nothing but time, and on Effective.
type Minority struct {
	// Within is how long that takes once its failure detector suspects the others.
	Within func(c nodes.Config) time.Duration
	// Keeps says that it may enter all the same in an epoch that had begun before, as with a token that was
	// there: none begins in a minority.
	Keeps bool
}

// A Silence is after what time without entries a textbook takes what lets in for lost. The zero value says
// that none does.
type Silence struct {
	Formula string // T is what a message takes at most
	Of      func(c nodes.Config, latency, hold time.Duration) time.Duration
}

// Any is the Bypass of an algorithm that promises none with some options.
const Any = -1

// Promised returns how many entries of others may come once a request is known, and whether the algorithm
// promises that.
func (x *Exclusion) Promised(c nodes.Config) (bypass int, promised bool) {
	if x.Bypass == nil || x.Bypass(c) == Any {
		return 0, false
	}
	return x.Bypass(c), true
}

// Exclusion returns what is published of the row's mutual exclusion: nothing, if it does none.
func (r *Row) Exclusion() *Exclusion { return cmp.Or(r.Mutex, &Exclusion{}) }

// Leadership returns what is promised of the row's leaders: nothing, if it elects none.
func (r *Row) Leadership() *Leadership { return cmp.Or(r.Elector, &Leadership{}) }

// CostOf returns what the algorithm was published to cost: any, if nothing is.
func (r *Row) CostOf(c nodes.Config) Cost {
	if cost := r.Exclusion().Cost; cost != nil {
		return cost(c)
	}
	any := Unbounded(0)
	return Cost{Sequential: any, One: any, Saturated: any, Any: any, Delay: any}
}

// Validate returns an error that says what of a configuration the algorithm refuses, and what would be right.
func (r *Row) Validate(c nodes.Config) error {
	return hinted(r.Spec.Validate(c))
}

// hinted adds to an error about an option which one may have been meant.
func hinted(err error) error {
	var option *nodes.OptionError
	if errors.As(err, &option) {
		option.Near = suggest.Nearest(option.Word, option.Known)
	}
	return err
}

// Check returns an error that names the fields that a row of the tables of this project must have and this
// one lacks.
func (r *Row) Check() error {
	exclusion := r.Kind == nodes.MutualExclusion
	return r.Lacks(append(r.lacks(), named(
		field{"Aliases", len(r.Aliases) == 0 && exclusion},
		field{"Family", r.Family == ""},
		field{"Source", r.Source == ""},
		field{"Summary", r.Summary == ""},
		field{"Cost", r.Exclusion().Cost == nil && exclusion},
		field{"Faults", len(r.Faults) == 0 && r.Kind != nodes.Detection},
		field{"Flaw.At", r.Flaw != nil && r.Flaw.At.N == 0})...)...)
}

// CheckOwn returns an error that names the fields without which no run of a row can be made and judged.
func (r *Row) CheckOwn() error { return r.Lacks(r.lacks()...) }

// A field is the name of a field of a row, and whether the row lacks it.
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

// lacks returns the fields that the row lacks, of those that every row needs.
func (r *Row) lacks() []string {
	mutex, elector, detector := r.Mutex != nil, r.Elector != nil, r.Detector != nil
	exclusion, election, detection := r.Kind == nodes.MutualExclusion, r.Kind == nodes.Election,
		r.Kind == nodes.Detection
	return named(
		field{"Name", r.Name == ""},
		field{"Mutex", exclusion && !mutex},
		field{"Elector", election && !elector},
		field{"Detector", detection && !detector},
		field{"Kind", mutex && !exclusion || elector && !election || detector && !detection},
		field{"Live", r.Live == 0 && r.Kind == nodes.MutualExclusion},
		field{"Timers", len(r.Timers) == 0 && r.timed()})
}

// timed reports whether the machines of the clients set timers.
func (r *Row) timed() bool {
	if r.New == nil {
		return false
	}
	_, timed := r.New(nodes.Config{N: 2}).(nodes.Timed)
	return timed
}

// Options returns the options of all rows of a table: each name once, with all values that rows accept for
// it.
func Options(table []*Row) []nodes.Option {
	var all []nodes.Option
	for _, row := range table {
		for _, o := range row.Options {
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

// CheckTime says what is wrong with the value of an option that is a length of time, from least to most.
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

// Find returns the row of table with that name or alias, in upper or lower case. The error for an unknown
// name says what the table lists, as in "algorithm", which names may have been meant, and where all are.
func Find(what string, table []*Row, name string) (*Row, error) {
	known := suggest.List{Aliases: map[string][]string{}, By: "list"}
	for _, row := range table {
		for _, word := range append([]string{row.Name}, row.Aliases...) {
			if strings.EqualFold(word, name) {
				return row, nil
			}
		}
		known.Names = append(known.Names, row.Name)
		known.Aliases[row.Name] = row.Aliases
	}
	return nil, &UnknownError{what, name, known.Hint(name)}
}

// An UnknownError says that no row of a table goes by a name.
type UnknownError struct{ what, name, hint string }

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown %s %q%s", e.what, e.name, e.hint) }
