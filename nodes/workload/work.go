package workload

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"turnstile/internal/english"
	"turnstile/internal/suggest"
	"turnstile/nodes"
)

// A Work is what a client does, while it is inside, with what clients share.
type Work string

// The works. Whatever else a client does, it reads the account as it enters, and writes that one higher as it
// leaves.
const (
	Account Work = ""        // it does no more
	File    Work = "file"    // it writes the blocks of a file back, changed, one after the other
	Printer Work = "printer" // it prints the lines of a document, one after the other
	// Shares: the account numbers shares of some work. It takes the next one, and does that once it has left.
	Shares Work = "shares"
)

// account is the name of Account.
const account = "account"

// WorkForms says what the works are.
const WorkForms = "account (write it), file (write its blocks back), printer (print the lines of a " +
	"document) or shares (take one of some work)"

// Works are the names of all works.
var Works = []string{account, string(File), string(Printer), string(Shares)}

// String returns its name.
func (w Work) String() string { return cmp.Or(string(w), account) }

// Set and Type make it the value of a flag.
func (w *Work) Set(name string) error {
	if !slices.Contains(Works, name) {
		return fmt.Errorf("there is no work %q%s", name, suggest.Hint(name, Works))
	}
	if *w = Work(name); name == account {
		*w = Account
	}
	return nil
}

// Type names the values of the flag.
func (w *Work) Type() string { return "work" }

// Check completes the name. It returns an error if there is no such work, or clients of a resource of so many
// units, which may demand fence numbers, cannot have it.
func (w *Work) Check(units int, fenced bool) error {
	switch err := w.Set(w.String()); {
	case err != nil || *w == Account:
		return err
	case units > 1:
		return fmt.Errorf("work %v on a resource of %d units: several clients would spoil it together, so "+
			"have it be of one, as in --units 1, or leave out --work", w, units)
	case fenced && w.Steps() > 0:
		return fmt.Errorf("work %v on a resource that demands fence numbers: it refuses updates of the account "+
			"alone, so leave out --fenced, or take the work %v or %v", w, Account, Shares)
	}
	return nil
}

// Steps is how many lines a document has, and how many blocks a file.
const Steps = 5

// Steps returns how many steps it takes inside, spread over the hold.
func (w Work) Steps() int {
	if w == File || w == Printer {
		return Steps
	}
	return 0
}

// Words are what clients share beside the account: who wrote each block of a file; of a printer the first
// alone, who printed the last line.
type Words [Steps]int64

// A Stint is the work of a client in one critical section, step by step. Each step swaps one of the Words. It
// is spoilt if it does not find there what it would if no other client were inside: another line after the
// first of a document finds one of the same document, and a block that is written back is as it was read.
type Stint struct {
	work   Work
	mark   int64 // what its steps write, and no other stint
	finds  Words // what they find if no other client is inside
	Done   int   // steps
	Spoilt int   // of these
}

// Begin begins it, given what the words are: of a node's critical section with a number.
func (w Work) Begin(id nodes.ID, entry uint64, read Words) Stint {
	return Stint{work: w, mark: int64(id+1)<<32 | int64(uint32(entry)), finds: read}
}

// Over reports whether no step is left.
func (s *Stint) Over() bool { return s.Done >= s.work.Steps() }

// Next returns which of the words the next step swaps, and for what.
func (s *Stint) Next() (word int, value int64) {
	if s.work == File {
		word = s.Done
	}
	return word, s.mark
}

// Swapped takes what that step has found there.
func (s *Stint) Swapped(found int64) {
	word, _ := s.Next()
	first := s.work == Printer && s.Done == 0 // which may come after any other document
	if found != s.finds[word] && !first {
		s.Spoilt++
	}
	s.finds[word] = s.mark
	s.Done++
}

// After returns how long after its client has entered the next step is due or, once it is over, the exit.
func (s *Stint) After(hold time.Duration) time.Duration {
	if s.Over() {
		return hold
	}
	return hold * time.Duration(s.Done) / time.Duration(s.work.Steps())
}

// doneBy says, by work, what has been done, one and many, and how others spoil it.
var doneBy = map[Work][3]string{
	Account: {"update", "updates", "lost"},
	File:    {"block written back", "blocks written back", "over an update that was not read"},
	Printer: {"line printed", "lines printed", "mixed with those of another document"},
	Shares:  {"share taken", "shares taken", "taken before"},
}

// Says says how much clients have done, and how much of that others have spoilt: 10 lines printed, none of
// them mixed with those of another document.
func (w Work) Says(done, spoilt uint64) string {
	says, of := doneBy[w], "none"
	if spoilt > 0 {
		of = english.Thousands(float64(spoilt))
	}
	return fmt.Sprintf("%s, %s of them %s", english.Count(done, says[0], says[1]), of, says[2])
}
