package algotest

import (
	"reflect"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A Deaf says which inputs the machines of a mutant ignore or misread.
type Deaf struct {
	Message                 string // kind of messages that they ignore
	Suspects, Trusts, Saved bool   // they ignore suspicions, their end, or their saved state
	// Misreads changes a message that a machine receives, through reflection on both; nil: none is changed.
	Misreads func(machine, message reflect.Value)
}

// Of returns a copy of an algorithm whose clients are deaf.
func (d Deaf) Of(of *algorithm.Algorithm) *algorithm.Algorithm {
	algo := *of
	algo.New = func(c nodes.Config) nodes.Machine {
		m := deaf{of.New(c), d}
		if of.Mutex != nil {
			return &deafClient{m}
		}
		return &deafElector{m}
	}
	return &algo
}

// CountsStaleVotes is a Misreads of raft-election: a vote of any term counts in the machine's own term.
func CountsStaleVotes(raft, vote reflect.Value) {
	if vote.Type().Name() == "raftVote" && vote.FieldByName("Granted").Bool() {
		vote.FieldByName("Term").SetUint(raft.FieldByName("term").Uint())
	}
}

// SeesNobodyInside is a Misreads of central-failover: a client that reports that it is inside counts as idle.
func SeesNobodyInside(_, answer reflect.Value) {
	if report := answer.FieldByName("Report"); report.IsValid() {
		if state := report.FieldByName("State"); state.Uint() == uint64(nodes.Inside) {
			state.SetUint(uint64(nodes.Idle))
		}
	}
}

// Unsafe are mutants that break the safety of sound algorithms, some only if nodes restart.
func Unsafe(find func(string) (*algorithm.Algorithm, error)) (all []Mutant) {
	for _, m := range []struct {
		rule, name string
		deaf       Deaf
	}{
		{"a stale vote counts", "raft-election", Deaf{Misreads: CountsStaleVotes}},
		{"a node forgets its term in a restart", "raft-election", Deaf{Saved: true}},
		{"a client inside is not reported", "central-failover", Deaf{Misreads: SeesNobodyInside}},
		{"an epoch is not saved", "bully-majority", Deaf{Saved: true}},
	} {
		of, err := find(m.name)
		if err != nil {
			panic(err) // a bug in a test
		}
		all = append(all, Mutant{m.rule, m.deaf.Of(of)})
	}
	return all
}

// A deaf machine ignores or misreads some of its inputs.
type deaf struct {
	nodes.Machine
	how Deaf
}

func (d *deaf) Start(env *nodes.Env) {
	if m, may := d.Machine.(nodes.Starter); may {
		m.Start(env)
	}
}

func (d *deaf) Recover(env *nodes.Env, saved nodes.Message) {
	if d.how.Saved {
		saved = nil
	}
	d.Machine.(nodes.Recoverer).Recover(env, saved)
}

func (d *deaf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if d.how.Misreads != nil {
		changed := reflect.New(reflect.TypeOf(m)).Elem()
		changed.Set(reflect.ValueOf(m))
		d.how.Misreads(reflect.ValueOf(d.Machine).Elem(), changed)
		m = changed.Interface()
	}
	if nodes.KindName(m) != d.how.Message {
		d.Machine.Receive(env, from, m)
	}
}

func (d *deaf) Timeout(env *nodes.Env, t nodes.Timer) { d.Machine.(nodes.Timed).Timeout(env, t) }

func (d *deaf) Suspect(env *nodes.Env, peer nodes.ID) {
	if m, may := d.Machine.(nodes.Suspecter); may && !d.how.Suspects {
		m.Suspect(env, peer)
	}
}

func (d *deaf) Trust(env *nodes.Env, peer nodes.ID) {
	if m, may := d.Machine.(nodes.Truster); may && !d.how.Trusts {
		m.Trust(env, peer)
	}
}

// A deafElector is a deaf machine of an election.
type deafElector struct{ deaf }

func (d *deafElector) Campaign(env *nodes.Env) { d.Machine.(nodes.Elector).Campaign(env) }

// A deafClient is a deaf machine of mutual exclusion.
type deafClient struct{ deaf }

func (d *deafClient) Request(env *nodes.Env) { d.Machine.(nodes.Mutex).Request(env) }
func (d *deafClient) Release(env *nodes.Env) { d.Machine.(nodes.Mutex).Release(env) }

func (d *deafClient) Lead(env *nodes.Env, leader nodes.ID, term uint64) {
	d.Machine.(nodes.Led).Lead(env, leader, term)
}
