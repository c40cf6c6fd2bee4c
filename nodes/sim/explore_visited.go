package sim

// visited is the set of the digests of all states, numbered in the order in which they came: an open
// table of numbers, each beside a piece of its digest so that the digest itself is rarely looked at.
type visited struct {
	digests []digest
	slots   []uint64 // the high half of digest.hi above, and below the number plus one; zero: free
}

func newVisited() *visited { return &visited{slots: make([]uint64, 1<<12)} }

const lowHalf = 1<<32 - 1

// slot returns where a digest stands, or else where it belongs.
func (v *visited) slot(d digest) uint64 {
	mask := uint64(len(v.slots) - 1)
	i := d.lo & mask
	for {
		s := v.slots[i]
		if s == 0 || s&^lowHalf == d.hi&^lowHalf && v.digests[s&lowHalf-1] == d {
			return i
		}
		i = (i + 1) & mask
	}
}

// find returns the number of a state, or unknown.
func (v *visited) find(d digest) uint32 { return uint32(v.slots[v.slot(d)]) - 1 }

// add gives a state its number, unless it has one, and reports whether it was new.
func (v *visited) add(d digest) (uint32, bool) {
	i := v.slot(d)
	if s := v.slots[i]; s != 0 {
		return uint32(s) - 1, false
	}
	v.slots[i] = v.entry(len(v.digests), d)
	v.digests = append(v.digests, d)
	if len(v.digests)*3 > len(v.slots)*2 {
		v.grow()
	}
	return uint32(len(v.digests) - 1), true
}

func (v *visited) entry(number int, d digest) uint64 { return d.hi&^lowHalf | uint64(number+1) }

// grow makes the table twice as large.
func (v *visited) grow() {
	v.slots = make([]uint64, 2*len(v.slots))
	mask := uint64(len(v.slots) - 1)
	for number, d := range v.digests {
		i := d.lo & mask
		for v.slots[i] != 0 {
			i = (i + 1) & mask
		}
		v.slots[i] = v.entry(number, d)
	}
}

func (v *visited) bytes() uint64 { return 8*uint64(len(v.slots)) + 16*uint64(cap(v.digests)) }
