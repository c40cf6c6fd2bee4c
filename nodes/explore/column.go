package explore

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

// capacity returns how many fit into the memory in use.
func (c *column[T]) capacity() uint64 { return uint64(len(c.blocks)) * columnBlock }
