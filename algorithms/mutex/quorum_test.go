package mutex

import (
	"slices"
	"testing"

	"turnstile/judge/check"
	"turnstile/nodes"
)

// What makes quorums exclude: any two meet. What makes them fair: all have one size, every node is in
// its own, and none has more to arbitrate than another.
func TestQuorums(t *testing.T) {
	for n := 1; n <= 200; n++ {
		for _, name := range quorumOption.Values {
			c := nodes.Config{N: n}.With("quorums", name)
			if maekawaAlgorithm.Validate(c) == nil {
				checkSystem(t, c)
			}
		}
	}
}

func checkSystem(t *testing.T, c nodes.Config) {
	t.Helper()
	var quorums []nodes.Set
	load := make([]int, c.N)
	size := quorumSize(c)
	for id := range nodes.ID(c.N) {
		q := quorumOf(c.Value(quorumOption), c.N, id)
		if !q.Has(id) || q.Len() != size {
			t.Errorf("%+v: node %d asks %v, of %d", c, id, q, size)
		}
		for member := range q.All() {
			load[member]++
		}
		for other, r := range quorums {
			if !q.Meets(r) || c.Value(quorumOption) == planeQuorums && shared(q, r) != 1 {
				t.Errorf("%+v: the quorums of %d and %d, %v and %v, share %d nodes", c, other, id, r, q, shared(q, r))
			}
		}
		quorums = append(quorums, q)
	}
	for id, l := range load {
		if l != size {
			t.Errorf("%+v: node %d is in %d quorums of %d", c, id, l, size)
		}
	}
}

// shared counts the nodes that are in both.
func shared(q, r nodes.Set) (count int) {
	for id := range q.All() {
		if r.Has(id) {
			count++
		}
	}
	return count
}

// The option offers planes of these sizes up to 200; their quorums have K nodes if n is K(K-1)+1.
func TestPlanes(t *testing.T) {
	sizes := map[int]int{1: 1, 3: 2, 7: 3, 13: 4, 21: 5, 31: 6, 57: 8, 73: 9, 91: 10, 133: 12}
	for n := 1; n <= 200; n++ {
		c := nodes.Config{N: n}.With("quorums", planeQuorums)
		if err := maekawaAlgorithm.Validate(c); (err == nil) != (sizes[n] > 0) {
			t.Errorf("%d nodes: %v", n, err)
		} else if err == nil && quorumSize(c) != sizes[n] {
			t.Errorf("of %d nodes a plane asks %d, want %d", n, quorumSize(c), sizes[n])
		}
	}
}

func TestQuorumSizes(t *testing.T) {
	for n, want := range map[int]int{
		1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 7: 3, 9: 4, 13: 4, 15: 5, 16: 5, 21: 5, 25: 6, 31: 6, 32: 7,
		36: 7, 57: 8, 73: 9, 91: 10, 100: 12, 133: 12, 1000: 39, 1_000_000: 1225,
	} {
		if got := quorumSize(nodes.Config{N: n}); got != want {
			t.Errorf("the quorums of %d nodes have %d, want %d", n, got, want)
		}
	}
	for side := 1; side <= 40; side++ {
		n := side * side
		grid := quorumSize(nodes.Config{N: n}.With("quorums", gridQuorums))
		if grid != 2*side-1 {
			t.Errorf("the grid of %d nodes asks %d", n, grid)
		}
		if best := quorumSize(nodes.Config{N: n}); best > grid {
			t.Errorf("of %d nodes the default asks %d, a grid %d", n, best, grid)
		}
	}
}

// If nodes do not ask themselves, some quorums do not meet in a grid of two rows, or of two nodes. In the
// other grids here they all meet.
func TestGridsWithoutOneself(t *testing.T) {
	for _, grid := range []struct {
		rows, columns int
		meet          bool
	}{{1, 2, false}, {2, 2, false}, {2, 3, false}, {2, 5, false}, {1, 3, true}, {3, 3, true}, {4, 4, true}} {
		var quorums []nodes.Set
		for self := range grid.rows * grid.columns {
			var q nodes.Set
			for id := range grid.rows * grid.columns {
				if id != self && (id/grid.columns == self/grid.columns || id%grid.columns == self%grid.columns) {
					q.Add(nodes.ID(id))
				}
			}
			quorums = append(quorums, q)
		}
		apart := func(q nodes.Set) bool {
			return slices.ContainsFunc(quorums, func(r nodes.Set) bool { return !q.Meets(r) })
		}
		if meet := !slices.ContainsFunc(quorums, apart); meet != grid.meet {
			t.Errorf("%+v: they all meet: %v", grid, meet)
		}
	}
}

// The nodes of a grid talk along their row and their column alone.
func TestGridNodesTalkAlongTheGrid(t *testing.T) {
	const side = 3
	c := nodes.Config{N: side * side}.With("quorums", gridQuorums)
	o := saturated(&maekawaAlgorithm, c, 1)
	o.Entries = 200
	links := &tap{Shaper: o.Shaper, packets: map[[2]nodes.ID]int{}}
	o.Shaper = links
	if v := judge(t, o, maekawaAlgorithm.Mutex.Cost(c).Saturated); v.Outcome != check.Valid {
		t.Fatalf("%v: %s", v.Outcome, v.Reason)
	}
	for from := range nodes.ID(side * side) {
		for to := range nodes.ID(side * side) {
			along := from != to && (from/side == to/side || from%side == to%side)
			if sent := links.packets[[2]nodes.ID{from, to}]; (sent > 0) != along {
				t.Errorf("%d messages pass from node %d to %d", sent, from, to)
			}
		}
	}
}

// A tap counts the packets of each link.
type tap struct {
	nodes.Shaper
	packets map[[2]nodes.ID]int // by sender and receiver
}

func (s *tap) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	s.packets[[2]nodes.ID{p.From, p.To}]++
	return s.Shaper.Shape(p, fate)
}
