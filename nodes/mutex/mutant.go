package mutex

import (
	"time"

	"turnstile/nodes"
)

// A Mutant is a sound algorithm of which one rule was changed. None is in the table: they are here for the
// checks to catch, since a check that lets one pass is decoration.
type Mutant struct {
	Name  string // the rule
	Of    string // the sound algorithm, a row or a variant
	Check string // what it may fail: exclusion, progress, identities, panic
	Spec  nodes.Spec
	Sound nodes.Spec

	// Where it fails. The sound algorithm does not, there.
	Config      nodes.Config
	Duplication bool // messages arrive twice
	Restarts    bool // nodes crash and come up again
}

// Mutants returns all mutants.
func Mutants() []Mutant {
	var all []Mutant
	for _, family := range [][]Mutant{centralMutants(), lamportMutants(), ricartMutants(), ringMutants(),
		suzukiMutants(), treeMutants(), quorumMutants()} {
		all = append(all, family...)
	}
	return all
}

// mutant returns the mutant of an algorithm whose machines new makes.
func mutant(of, name, fails string, c nodes.Config, new func(c nodes.Config) nodes.Machine) Mutant {
	sound, err := find(of)
	if err != nil {
		panic(err) // a slip of the pen in the lists of mutants
	}
	m := Mutant{Name: name, Of: of, Check: fails, Spec: *sound, Sound: *sound, Config: c}
	m.Spec.New = new
	return m
}

// copied and restarted have a mutant meet a fault.
func (m Mutant) copied() Mutant    { m.Duplication = true; return m }
func (m Mutant) restarted() Mutant { m.Restarts = true; return m }

// served has a mutant differ at its servers alone.
func (m Mutant) served(new func() nodes.Machine) Mutant {
	m.Spec.New = m.Sound.New
	m.Spec.NewServer = func(nodes.Config, nodes.ID) nodes.Machine { return new() }
	return m
}

// tired is the timer of a node that waits no longer than it may have to, and takes who is slow for gone.
var tired = nodes.Timer{Kind: 1}

const tiredAfter = 5 * time.Millisecond
