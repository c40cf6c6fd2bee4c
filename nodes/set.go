package nodes

import (
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// A Set is a set of node IDs; the zero value is empty. Copies of a Set share memory, except those made by
// Clone.
type Set struct {
	words []uint64 // bit i%64 of word i/64 stands for ID i
	size  int32
}

// SetOf returns the set of ids.
func SetOf(ids ...ID) Set {
	var s Set
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// Everyone returns the set {0, ..., n-1}.
func Everyone(n int) Set {
	s := Set{words: make([]uint64, (n+63)/64), size: int32(n)}
	for i := range s.words {
		s.words[i] = ^uint64(0)
	}
	if rest := n % 64; rest != 0 {
		s.words[len(s.words)-1] = 1<<rest - 1
	}
	return s
}

// Has reports whether id is in the set.
func (s Set) Has(id ID) bool {
	w := int(id) / 64
	return id >= 0 && w < len(s.words) && s.words[w]&(1<<(id%64)) != 0
}

// Add puts id in and reports whether it is new.
func (s *Set) Add(id ID) bool {
	w := int(id) / 64
	for w >= len(s.words) {
		s.words = append(s.words, 0)
	}
	if s.words[w]&(1<<(id%64)) != 0 {
		return false
	}
	s.words[w] |= 1 << (id % 64)
	s.size++
	return true
}

// Remove takes id out and reports whether it was there.
func (s *Set) Remove(id ID) bool {
	if !s.Has(id) {
		return false
	}
	s.words[int(id)/64] &^= 1 << (id % 64)
	s.size--
	return true
}

// Clear takes everything out.
func (s *Set) Clear() { *s = Set{} }

// Len returns how many IDs are in the set.
func (s Set) Len() int { return int(s.size) }

// Empty reports whether nothing is in the set.
func (s Set) Empty() bool { return s.size == 0 }

// Clone returns a copy that shares no memory with s.
func (s Set) Clone() Set {
	return Set{words: append([]uint64(nil), s.words...), size: s.size}
}

// Meets reports whether s and t have a member in common.
func (s Set) Meets(t Set) bool {
	for i := range min(len(s.words), len(t.words)) {
		if s.words[i]&t.words[i] != 0 {
			return true
		}
	}
	return false
}

// All yields the members in rising order.
func (s Set) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(ID(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// String prints the set as {1 2 5}.
func (s Set) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for id := range s.All() {
		if b.Len() > 1 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(int(id)))
	}
	b.WriteByte('}')
	return b.String()
}
