package section

import (
	"cmp"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// account has the values that entries read from the shared account and that exits wrote to it, and the work
// of clients inside.
type account struct {
	Exits   uint64 // exits that wrote to the account
	Account int64  // the highest value written to the account
	// Early is the first entry that read a value before it was written, by the stamps, or nil.
	Early *Misread

	// The work of clients inside (see workload.Work): steps, how many of these others have spoilt, and updates
	// of the account by nodes that died before their client asked again.
	steps, spoilt, undone uint64

	ahead        *Misread // an entry that read more than had been written so far
	mayBeWritten int64    // the highest value that a dead node may have written without an Exited event
	readOfDead   *Misread // the latest entry that read a value which a dead node may have written
	writesOfDead uint64   // how many values were read which a dead node may have written
}

// A Misread is an entry that read an unexpected value.
type Misread struct {
	Node nodes.ID
	At   int64
	Read int64 // what the account held
}

// read takes the value that an entry read. If the entry was alone by the register and the value was not
// written yet, an exit that wrote it must follow within the error of stamps.
func (r *Resource) read(s *Section) {
	if s.Read > r.Account && s.Read <= r.mayBeWritten {
		r.Account, r.readOfDead = s.Read, &Misread{s.Node, s.Entered, s.Read}
		r.writesOfDead++
	}
	if r.Capacity == 1 && s.Taken <= s.Units && s.Read > r.Account && r.ahead == nil {
		r.ahead = &Misread{s.Node, s.Entered, s.Read}
	}
}

// write takes the value that an exit wrote.
func (r *Resource) write(s *Section, at, stampError int64) {
	if a := r.ahead; a != nil && s.Written >= a.Read {
		if at-a.At > stampError && r.Early == nil {
			r.Early = a
		}
		r.ahead = nil
	}
	r.wrote(s.Written, at-stampError)
}

// wrote takes the value that an exit wrote, and the time since when entries may have read it. The final
// account is the highest value written: the last exit by stamps may not have been the last.
func (r *Resource) wrote(account, since int64) {
	if d := r.readOfDead; d != nil && account == d.Read && d.At >= since {
		r.readOfDead = nil // this exit wrote the value, not a dead node
		r.writesOfDead--
	}
	r.Account = max(r.Account, account)
}

// settle ends the comparison of values read with values written, and of refusals with entries. unseen means
// that a client may have entered without an event: it died before the answer came.
func (r *Resource) settle(unseen bool) {
	if r.Early == nil {
		r.Early = r.ahead // no exit wrote the value at all
	}
	if unseen {
		return
	}
	for _, one := range r.refused {
		r.Baseless = cmp.Or(r.Baseless, one)
	}
}

// Lost returns how many updates of the account are missing: each exit adds one to it. It is 0 if several
// clients may be inside, since their updates overwrite each other anyway.
func (r *Resource) Lost() uint64 {
	written := r.Exits + r.writesOfDead
	if r.Capacity > 1 || uint64(r.Account) >= written {
		return 0
	}
	return written - uint64(r.Account)
}

// step adds the work of a client that leaves.
func (r *Resource) step(e *history.Event) {
	done, spoilt := e.Worked()
	r.steps += uint64(done)
	r.spoilt += uint64(spoilt)
}

// Worked returns how much work of kind w clients have done: steps or, if it has no steps, updates of the
// account; and how much of it others have spoilt.
func (r *Resource) Worked(w workload.Work) (done, spoilt uint64) {
	if w.Steps() > 0 {
		return r.steps, r.spoilt
	}
	return r.Exits + r.writesOfDead, r.Lost()
}

// Undone returns how many updates of the account were by nodes that died before their client asked again. If
// an update takes a share of work that the client does after it leaves, these shares are never done.
func (r *Resource) Undone() uint64 { return r.undone + r.writesOfDead }

// updated notes that a client has left and written the account, and whether its node has died since.
func (r *Resource) updated(c *Client, died bool) {
	r.Exits++
	if c.updated = !died; died {
		r.undone++
	}
}
