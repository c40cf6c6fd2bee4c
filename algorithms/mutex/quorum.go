package mutex

import (
	"fmt"
	"math"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// A quorum system gives each node a set of nodes to ask, such that any two sets meet, each node is in its own
// set, and all sets have one size:
//
//   - "grid": the nodes form a square, and a node asks its row and its column, itself included
//     (without itself the quorums of a 2x2 grid do not even meet). For square n, 2√n-1 nodes.
//   - "cyclic": node i asks the nodes i+d mod n for each d in a difference cover of n, a set such that
//     every number mod n is a difference of two members. Then i and j meet: j-i is some d-e, so
//     i+d = j+e. For any n, about √(1.5n) nodes. It is the default, since it is never larger.
//   - "plane": the lines of a finite projective plane, in which any two lines meet in exactly one node. They
//     are the cyclic quorums of K nodes for n = K(K-1)+1, where each number mod n but 0 is the difference of
//     one pair only (J. Singer, 1938). No quorums can be smaller. But if the one node that two quorums share
//     forgets that it has lent its vote, both nodes that ask get it. Quorums of a grid share two nodes.
const (
	gridQuorums   = "grid"
	cyclicQuorums = "cyclic"
	planeQuorums  = "plane"
)

var quorumOption = nodes.Option{
	Name:    "quorums",
	Usage:   "quorum system",
	Values:  []string{cyclicQuorums, gridQuorums, planeQuorums},
	Default: cyclicQuorums,
	Shows: []nodes.Shown{
		{Value: gridQuorums, Than: cyclicQuorums, Figure: "messages per entry", Least: 1.05, Most: 2, N: 16,
			Load: "sequential"},
		{Value: planeQuorums, Than: cyclicQuorums, Figure: "messages per entry", Least: 1, Most: 1, N: 13,
			Load: "sequential"},
	},
	Check: func(c nodes.Config, system string) error {
		switch side := gridSide(c.N); {
		case system == gridQuorums && side*side != c.N:
			return fmt.Errorf("the grid needs a square number of nodes; %d is not one: use %d or %d, or %s",
				c.N, side*side, (side+1)*(side+1), cyclicQuorums)
		case system == planeQuorums && !isPlane(c.N):
			return noPlane(c.N)
		}
		return nil
	},
}

// isPlane reports whether the cyclic quorums of n nodes are the lines of a projective plane, or of a
// triangle.
func isPlane(n int) bool {
	size := len(differenceCover(n))
	return size*(size-1)+1 == n
}

// noPlane returns the error that n nodes form no plane, with the reason and the nearest numbers that do.
func noPlane(n int) error {
	const most = 133 // the largest plane that differenceCover knows
	why := fmt.Sprintf("%d is not K(K-1)+1", n)
	size := (1 + int(math.Sqrt(float64(4*n-3)))) / 2
	switch {
	case n == 43 || n == 111:
		why = fmt.Sprintf("a plane of order %d does not exist (G. Tarry, 1901; C. Lam, 1989)", size-1)
	case size*(size-1)+1 == n:
		why = fmt.Sprintf("no plane of order %d is known here", size-1)
	}
	below, above := min(n, most), n
	for !isPlane(below) {
		below--
	}
	for above <= most && !isPlane(above) {
		above++
	}
	use := fmt.Sprint(below)
	if above <= most {
		use += fmt.Sprint(" or ", above)
	}
	return fmt.Errorf("%d nodes form no projective plane, since %s: use %s, or %s", n, why, use, cyclicQuorums)
}

// quorumOf returns the nodes that node id of n asks.
func quorumOf(system string, n int, id nodes.ID) nodes.Set {
	var q nodes.Set
	if system == gridQuorums {
		return gridOf(n, id)
	}
	for _, d := range differenceCover(n) {
		q.Add((id + d) % nodes.ID(n))
	}
	return q
}

// quorumSize returns how many nodes each node asks, itself included.
func quorumSize(c nodes.Config) int {
	q := quorumOf(c.Value(quorumOption), c.N, 0)
	return q.Len()
}

var quorumSymbol = row.Symbol{Name: "K", Says: "nodes in a quorum, itself included", Value: quorumSize}

// gridOf returns the nodes in the row and in the column of node id in a grid of n, itself included.
func gridOf(n int, id nodes.ID) (q nodes.Set) {
	rows := nodes.ID(gridRows(n))
	columns := nodes.ID(n) / rows
	for i := range columns {
		q.Add(id/columns*columns + i)
	}
	for i := range rows {
		q.Add(id%columns + i*columns)
	}
	return q
}

// gridRows returns how many rows a grid of n nodes has: as many as columns, or the nearest to that.
func gridRows(n int) int {
	rows := gridSide(n)
	for n%rows != 0 {
		rows--
	}
	return rows
}

func gridSide(n int) int { return int(math.Sqrt(float64(n))) }

// differenceCover returns a set such that every number mod n is a difference of two members.
func differenceCover(n int) []nodes.ID {
	// The cases have fewer members than the rulers below. The cases for 3, 21, 31, 57, 73, 91 and 133 are
	// perfect difference sets: any two quorums meet in one node, and no quorums can be smaller.
	switch n {
	case 1:
		return []nodes.ID{0}
	case 2, 3:
		return []nodes.ID{0, 1}
	case 21:
		return []nodes.ID{0, 1, 4, 14, 16}
	case 31:
		return []nodes.ID{0, 1, 3, 8, 12, 18}
	case 32:
		return []nodes.ID{0, 1, 2, 3, 7, 11, 19}
	case 36:
		return []nodes.ID{0, 1, 2, 5, 12, 14, 20}
	case 49:
		return []nodes.ID{0, 1, 8, 12, 18, 21, 23, 37}
	case 50:
		return []nodes.ID{0, 6, 9, 14, 16, 26, 27, 31}
	case 57:
		return []nodes.ID{0, 1, 3, 13, 32, 36, 43, 52}
	case 64:
		return []nodes.ID{0, 3, 4, 12, 26, 36, 42, 47, 49}
	case 73:
		return []nodes.ID{0, 1, 3, 7, 15, 31, 36, 54, 63}
	case 91:
		return []nodes.ID{0, 1, 3, 9, 27, 49, 56, 61, 77, 81}
	case 133:
		return []nodes.ID{0, 1, 3, 12, 20, 34, 38, 81, 88, 94, 104, 109}
	}
	return ruler(n / 2)
}

// ruler returns marks that measure every length from 1 to longest, as the difference of two of them.
// That covers every number mod n if longest is n/2, for x and -x mod n are measured together.
//
// B. Wichmann, "A note on restricted difference bases", J. London Math. Soc. 38, 1963, gives rulers
// of 4r+s+3 marks and length 4r(r+s+2)+3(s+1) for any r and s; C. J. Colbourn and A. C. H. Ling,
// "Quorums from difference covers", IPL 75, 2000, made quorums of them.
func ruler(longest int) []nodes.ID {
	bestR, bestS, fewest := 0, 0, math.MaxInt
	for r := 0; 4*r+3 < fewest; r++ {
		rest := longest - 4*r*(r+2) - 3 // to be measured by s gaps of 4r+3
		s := max(0, (rest+4*r+2)/(4*r+3))
		if 4*r+s+3 < fewest {
			bestR, bestS, fewest = r, s, 4*r+s+3
		}
	}
	r, s := bestR, bestS
	marks := []nodes.ID{0}
	for _, run := range [...]struct{ gap, times int }{
		{1, r}, {r + 1, 1}, {2*r + 1, r}, {4*r + 3, s}, {2*r + 2, r + 1}, {1, r},
	} {
		for range run.times {
			marks = append(marks, marks[len(marks)-1]+nodes.ID(run.gap))
		}
	}
	return marks
}
