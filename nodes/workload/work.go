package workload

import (
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

// ParseWork reads the name of a work.
func ParseWork(name string) (Work, error) {
	switch {
	case name == account:
		return Account, nil
	case !slices.Contains(Works, name):
		return "", fmt.Errorf("there is no work %q%s", name, suggest.Hint(name, Works))
	}
	return Work(name), nil
}

// String returns its name.
func (w Work) String() string {
	if w == Account {
		return account
	}
	return string(w)
}

// Set and Type make it the value of a flag.
func (w *Work) Set(name string) (err error) { *w, err = ParseWork(name); return err }

// Type names the values of the flag.
func (w *Work) Type() string { return "work" }

// Steps is how many lines a document has, and how many blocks a file.
const Steps = 5

// Steps returns how many steps it takes inside, spread over the hold.
func (w Work) Steps() int {
	if w == File || w == Printer {
		return Steps
	}
	return 0
}

// Words are what clients share beside the account: the numbers of updates of the blocks of a file; of a
// printer the first alone, which is the line that was printed last.
type Words [Steps]int64

// A Stint is the work of a client in one critical section, step by step. Each step swaps one of the Words. It
// is spoilt if it does not find there what it would if no other client were inside: another line after the
// first of a document finds one of the same document, and a block that is written back is as it was read.
type Stint struct {
	work   Work
	mark   int64 // of the lines of its document
	read   Words
	Done   int // steps
	Spoilt int // of these
}

// Begin begins it, given what the words are: of a node's critical section with a number.
func (w Work) Begin(id nodes.ID, entry uint64, read Words) Stint {
	return Stint{work: w, mark: int64(id+1)<<32 | int64(uint32(entry)), read: read}
}

// Over reports whether no step is left.
func (s *Stint) Over() bool { return s.Done >= s.work.Steps() }

// Next returns which of the words the next step swaps, and for what.
func (s *Stint) Next() (word int, value int64) {
	if s.work == File {
		return s.Done, s.read[s.Done] + 1
	}
	return 0, s.mark
}

// Swapped takes what that step has found there.
func (s *Stint) Swapped(found int64) {
	whole := s.Done == 0 || found == s.mark
	if s.work == File {
		whole = found == s.read[s.Done]
	}
	if !whole {
		s.Spoilt++
	}
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
