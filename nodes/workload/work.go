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

// A Work is what a client does with shared state while it is inside.
type Work string

// The kinds of work. With every kind a client reads the account when it enters, and writes it back, plus one,
// when it leaves.
const (
	Account Work = ""        // the client does nothing else
	File    Work = "file"    // the client writes the changed blocks of a file back, one after the other
	Printer Work = "printer" // the client prints the lines of a document, one after the other
	// Shares: the account is the number of the next share of a job. The client takes that share, and works on
	// it after it has left.
	Shares Work = "shares"
)

// account is the name of Account.
const account = "account"

// WorkForms describes the kinds of work.
const WorkForms = "account (add one to it), file (rewrite its blocks), printer (print a document) or " +
	"shares (take the next share of a job)"

// Works are the names of the kinds of work.
var Works = []string{account, string(File), string(Printer), string(Shares)}

// String returns the name of the work.
func (w Work) String() string { return cmp.Or(string(w), account) }

// Set reads the name of a work. With Type it makes w the value of a flag.
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

// Check normalises the name. It returns an error if there is no such work, or if the work does not suit a
// resource with that many units, which may demand fence numbers.
func (w *Work) Check(units int, fenced bool) error {
	switch err := w.Set(w.String()); {
	case err != nil || *w == Account:
		return err
	case units > 1:
		return fmt.Errorf("work %v on a resource of %d units: several clients would spoil it together: "+
			"give it one, as in --units 1, or leave out --work", w, units)
	case fenced && w.Steps() > 0:
		return fmt.Errorf("--work %v: fence numbers protect only the account: leave out --fenced, or use "+
			"--work %v or %v", w, Account, Shares)
	}
	return nil
}

// Steps is the number of lines of a document, and of blocks of a file.
const Steps = 5

// Steps returns how many steps the work takes inside, spread over the hold.
func (w Work) Steps() int {
	if w == File || w == Printer {
		return Steps
	}
	return 0
}

// Words are what clients share besides the account: for a file, the writer of each block; for a printer, the
// writer of the last line, in the first word only.
type Words [Steps]int64

// A Stint is the work of a client in one critical section, step by step. Each step swaps one of the Words. A
// step is spoilt if it shows that another client is inside: the line before belongs to another document, or
// the block has changed since it was read.
type Stint struct {
	work   Work
	mark   int64 // a value that only the steps of this stint write
	finds  Words // the values that its steps find, if no other client is inside
	Done   int   // number of steps done
	Spoilt int   // number of steps done that were spoilt
}

// Begin returns the stint of a node in the critical section with the number entry. read has the Words that
// the client has read.
func (w Work) Begin(id nodes.ID, entry uint64, read Words) Stint {
	return Stint{work: w, mark: int64(id+1)<<32 | int64(uint32(entry)), finds: read}
}

// Over reports whether no step is left.
func (s *Stint) Over() bool { return s.Done >= s.work.Steps() }

// Next returns which word the next step swaps, and its new value.
func (s *Stint) Next() (word int, value int64) {
	if s.work == File {
		word = s.Done
	}
	return word, s.mark
}

// Swapped ends a step. found is the old value of the word.
func (s *Stint) Swapped(found int64) {
	word, _ := s.Next()
	first := s.work == Printer && s.Done == 0 // a document may follow any other document
	if found != s.finds[word] && !first {
		s.Spoilt++
	}
	s.finds[word] = s.mark
	s.Done++
}

// After returns how long after the entry the next step is due. Once the work is over, it returns when the
// exit is due.
func (s *Stint) After(hold time.Duration) time.Duration {
	if s.Over() {
		return hold
	}
	return hold * time.Duration(s.Done) / time.Duration(s.work.Steps())
}

// doneBy has, by work, a step in the singular and in the plural, and how other clients spoil it.
var doneBy = map[Work][3]string{
	Account: {"update", "updates", "lost"},
	File:    {"block written back", "blocks written back", "over an update that was not read"},
	Printer: {"line printed", "lines printed", "mixed with those of another document"},
	Shares:  {"share taken", "shares taken", "taken before"},
}

// Says describes how many steps were done and spoilt: "10 lines printed, none of them mixed with those of
// another document".
func (w Work) Says(done, spoilt uint64) string {
	says, of := doneBy[w], "none"
	if spoilt > 0 {
		of = english.Thousands(float64(spoilt))
	}
	return fmt.Sprintf("%s, %s of them %s", english.Count(done, says[0], says[1]), of, says[2])
}
