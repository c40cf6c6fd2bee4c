package section

import (
	"math"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Resource is shared by the clients of one instance. It has a capacity in units. Sections *overlap* while
// they hold more units than that; with a capacity of 1, while two are inside. An overlap is certain if it is
// longer than the error of the stamps. Only then is it a violation.
type Resource struct {
	Instance uint16
	Capacity uint32
	Requests uint64
	// Contended counts requests for which units were missing: fewer were free than the request and all waiting
	// requests take together.
	Contended uint64

	Violations        uint64   // sections in certain overlaps
	Overlap           int64    // total length of the certain overlaps
	First             *Overlap // the earliest certain overlap
	Overlaps          Moments[Overlap]
	UncertainOverlaps uint64 // sections that overlapped another as they ended, though not certainly
	// Unordered counts sections that only the order of the events puts after a section of another client: both
	// together lasted no longer than stamps may err, so the two may have been inside together.
	Unordered uint64
	// Closest is the longest overlap, certain or not; negative: minus the shortest gap between two sections.
	Closest int64

	// Deepest is the Entered event with the highest count of the register that was certainly right. Uncertain
	// counts entries that saw more than the capacity, perhaps only because a node died while it changed the
	// register; FirstUncertain is the first of these.
	Deepest           history.Event
	Exceeded          Moments[history.Event] // entries whose count was certainly more than the capacity
	Uncertain         uint64
	FirstUncertain    history.Event
	UncertainByDeaths uint64 // like Uncertain, perhaps only because the register still counted killed clients
	Exits             uint64 // exits that wrote to the account
	Account           int64  // the highest value written to the account
	// Early is the first entry that read a value before it was written, by the stamps, or nil.
	Early   *Misread
	Clients []Client // by node; the last nodes may be missing if they did nothing
	busy
	// The work of clients inside (see workload.Work): steps, how many of these others have spoilt, and updates
	// of the account by nodes that died before their client asked again.
	steps, spoilt, undone uint64

	Unfenced uint64           // entries without a fence number
	Refusals uint64           // exits whose write was refused
	Stale    Moments[Overlap] // writes by A that should have been refused, since B had entered before
	Baseless *Section         // the first section refused though no higher number had entered, or nil

	Tries     uint64 // refused tries
	FreeTries uint64 // refused tries during which no client was inside
	// Unguarded counts entries in a certain overlap with another under the same fence number: the resource
	// accepts both writes, though it demands numbers. MaybeUnguarded counts entries for which this is
	// uncertain.
	Unguarded, MaybeUnguarded uint64

	top      *Section   // a copy of the section with the highest fence number, or nil
	refused  []*Section // copies of refused sections, until another section enters under a higher number
	line     line
	recent   []*Section // contended requests, made so recently that units may have been free before them
	inside   []*Section // the sections inside, in the order of their entries
	held     uint64     // units held by sections inside
	current  Overlap    // a certain overlap that may go on; without a length: no overlap
	over     []Window   // certain overlaps that are over, and not passed to observers yet
	freed    bool       // the latest exit freed units, and before it all were taken
	freeAt   int64      // the time of that exit
	lastLeft int64      // when a client left last
	last     ended      // the section that ended last
	lastBy   nodes.ID   // the node of that client
	others   int64      // when a client other than lastBy left last
	ahead    *Misread   // an entry that read more than had been written so far

	// orphaned counts the units of killed nodes that the register may count until they are taken out, and
	// takenOut how many of these units were taken out.
	orphaned, takenOut uint32

	unknown      uint32   // how much too high the register may be, since nodes died while they changed it
	mayBeWritten int64    // the highest value that a dead node may have written without an Exited event
	readOfDead   *Misread // the latest entry that read a value which a dead node may have written
	writesOfDead uint64   // how many values were read which a dead node may have written
}

// A Client is the state of one client of a resource. It is small: with many clients, none stays in the cache
// of the processor from one event to the next.
type Client struct {
	open     *Section // its open request, or nil
	left     int64    // when its last section ended
	next     int64    // when its last request was made, or issuing stopped
	Asked    uint32   // requests
	Entered  uint32   // entries
	Left     uint32   // exits and revocations
	InWindow uint32   // entries in the window
	Unissued uint32   // arrivals that never became requests
	orphaned uint32   // see Resource.orphaned
	updated  bool     // it wrote the account, and has not asked again since
}

func newResource(instance uint16, capacity uint32) *Resource {
	return &Resource{Instance: instance, Capacity: capacity, Closest: math.MinInt64,
		lastLeft: math.MinInt64, lastBy: nodes.None, others: math.MinInt64}
}

// client returns the client of a node.
func (r *Resource) client(id nodes.ID) *Client {
	if have := len(r.Clients); int(id) >= have {
		r.Clients = append(r.Clients, make([]Client, int(id)+1-have)...)
	}
	return &r.Clients[id]
}
