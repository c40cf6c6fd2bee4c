package explore

import "sync/atomic"

// visited is the set of the digests of all states, numbered in the order in which they were added: a hash
// table with open addressing. Its slots hold a number and a piece of the digest, so the digest itself is
// rarely read. One goroutine adds while others look up; they may miss only a digest that is being added.
type visited struct {
	table atomic.Pointer[table]
	count int
}

type table struct {
	slots   []uint64 // upper half: that of digest.hi; lower half: the number plus one. Zero: the slot is free
	digests []digest // by number; when it is full, the table grows
}

const lowHalf = 1<<32 - 1

func newVisited() *visited {
	v := &visited{}
	v.table.Store(newTable(1 << 10))
	return v
}

func newTable(slots int) *table {
	return &table{slots: make([]uint64, slots), digests: make([]digest, slots/3*2)}
}

// slot returns the slot of a digest, or the free one where it belongs, and its content.
func (t *table) slot(d digest) (at, content uint64) {
	mask := uint64(len(t.slots) - 1)
	at = d.lo & mask
	for {
		// The digest was written before its number, so it is there.
		s := atomic.LoadUint64(&t.slots[at])
		if s == 0 || s&^lowHalf == d.hi&^lowHalf && t.digests[s&lowHalf-1] == d {
			return at, s
		}
		at = (at + 1) & mask
	}
}

// find returns the number of a state, or unknown.
func (v *visited) find(d digest) uint32 {
	_, s := v.table.Load().slot(d)
	return uint32(s) - 1
}

// add returns the number of a state, and reports whether the state is new.
func (v *visited) add(d digest) (uint32, bool) {
	t := v.table.Load()
	at, s := t.slot(d)
	if s != 0 {
		return uint32(s) - 1, false
	}
	if v.count == len(t.digests) {
		t = v.grow(t)
		at, _ = t.slot(d)
	}
	t.digests[v.count] = d
	v.count++
	atomic.StoreUint64(&t.slots[at], d.hi&^lowHalf|uint64(v.count))
	return uint32(v.count - 1), true
}

// grow makes a table twice as large. Others may still read the old one.
func (v *visited) grow(old *table) *table {
	t := newTable(2 * len(old.slots))
	copy(t.digests, old.digests)
	mask := uint64(len(t.slots) - 1)
	for number, d := range old.digests {
		at := d.lo & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = d.hi&^lowHalf | uint64(number+1)
	}
	v.table.Store(t)
	return t
}

// bytes returns how much memory is in use. Growing takes twice as much in addition.
func (v *visited) bytes() uint64 {
	t := v.table.Load()
	return 8*uint64(len(t.slots)) + 16*uint64(len(t.digests))
}

// free returns how many more states fit before the table grows.
func (v *visited) free() int { return len(v.table.Load().digests) - v.count }

// A column is a long list that grows without being copied.
type column[T any] struct {
	blocks []*[columnBlock]T
	count  int
}

const columnBlock = 1 << 13

func (c *column[T]) add(x T) {
	if c.count == len(c.blocks)*columnBlock {
		c.blocks = append(c.blocks, new([columnBlock]T))
	}
	c.blocks[c.count/columnBlock][c.count%columnBlock] = x
	c.count++
}

func (c *column[T]) at(i int) T { return c.blocks[i/columnBlock][i%columnBlock] }

// capacity returns how many elements fit into the memory in use.
func (c *column[T]) capacity() uint64 { return uint64(len(c.blocks)) * columnBlock }
