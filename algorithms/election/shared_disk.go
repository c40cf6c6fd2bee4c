package election

import (
	"time"

	"turnstile/nodes"
)

// sharedDisk is a disk that all nodes can reach, unless a plan cuts them off: a server with one file and a
// lock. It stands for a device that does one thing at a time and loses nothing that it has answered.
//
// The lock has an owner and a term, which rises whenever a node takes the lock. It lasts for lockOption
// after its owner's latest heartbeat, by the disk's own clock; then another node may take it. The disk keeps
// its state over a crash; the owner then has the whole time again.
type sharedDisk struct {
	lasts time.Duration
	owner nodes.ID // nodes.None: the lock is free
	term  uint64   // of the latest owner
}

func newSharedDisk(c nodes.Config) *sharedDisk {
	return &sharedDisk{lasts: c.Duration(lockOption), owner: nodes.None}
}

// The messages to and from the disk.
type (
	diskRead struct{} // asks which node owns the lock
	// The sender takes the lock if it is free, or was the sender's before a crash, and if nobody has taken it
	// since the sender read Term. So a copy of the message changes nothing.
	diskLock  struct{ Term uint64 }
	diskWrite struct { // the owner's heartbeat
		Term  uint64
		Round uint32
	}
	diskWritten struct { // answers a diskWrite
		Term  uint64
		Round uint32
	}
	diskState struct { // answers all other messages; also what the disk and the nodes save
		Owner nodes.ID
		Term  uint64
	}
)

// diskExpiry frees the lock.
var diskExpiry = nodes.Timer{}

// Recover implements nodes.Recoverer.
func (d *sharedDisk) Recover(env *nodes.Env, saved nodes.Message) {
	if s, some := saved.(diskState); some {
		d.owner, d.term = s.Owner, s.Term
		env.SetTimer(diskExpiry, d.lasts, d.lasts)
	}
}

func (d *sharedDisk) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case diskRead:
	case diskLock:
		if d.owner != nodes.None && d.owner != from || d.term != m.Term {
			break
		}
		d.owner = from
		d.term++ // the term rises even if the sender had the lock
		env.Save(diskState{d.owner, d.term})
		env.SetTimer(diskExpiry, d.lasts, d.lasts)
	case diskWrite:
		if d.owner == from && d.term == m.Term {
			env.SetTimer(diskExpiry, d.lasts, d.lasts)
			env.Send(from, diskWritten(m))
			return
		}
	default:
		nodes.Unexpected(d, m)
	}
	env.Send(from, diskState{d.owner, d.term})
}

// Timeout implements nodes.Timed.
func (d *sharedDisk) Timeout(*nodes.Env, nodes.Timer) { d.owner = nodes.None }
