package explore

// A memo remembers reactions by their keys: an open table, since it is asked for every move.
type memo struct {
	keys  []uint64 // one more than the key, so that zero is none
	found [][]outcome
	count int
}

func newMemo() memo { return memo{keys: make([]uint64, 1<<10), found: make([][]outcome, 1<<10)} }

func (m *memo) at(key uint64) int {
	mask := len(m.keys) - 1
	i := int(fold(key+1, oddOne)) & mask
	for m.keys[i] != 0 && m.keys[i] != key+1 {
		i = (i + 1) & mask
	}
	return i
}

func (m *memo) get(key uint64) []outcome {
	if i := m.at(key); m.keys[i] != 0 {
		return m.found[i]
	}
	return nil
}

func (m *memo) put(key uint64, r []outcome) {
	if 2*m.count >= len(m.keys) {
		old := *m
		m.keys, m.found = make([]uint64, 2*len(old.keys)), make([][]outcome, 2*len(old.keys))
		for i, k := range old.keys {
			if k != 0 {
				j := m.at(k - 1)
				m.keys[j], m.found[j] = k, old.found[i]
			}
		}
	}
	m.count++
	i := m.at(key)
	m.keys[i], m.found[i] = key+1, r
}

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

// room returns how many fit into the memory in use.
func (c *column[T]) room() uint64 { return uint64(len(c.blocks)) * columnBlock }
