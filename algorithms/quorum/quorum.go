// Package quorum has quorum systems. A node of such an algorithm asks a quorum of nodes before it enters.
// Any two quorums of a system have a node in common; if each node permits one other at a time, at most one
// is inside.
//
//   - [Grid]: the row and the column of a node (M. Maekawa, "A √N algorithm for mutual exclusion in
//     decentralized systems", ACM TOCS 3(2), 1985).
//   - [Cyclic]: quorums of one size, for any number of nodes. They are never larger than the quorums of a
//     square grid. For some numbers of nodes they are the lines of a finite projective plane (Maekawa's other
//     system); [CheckPlane] says for which.
//   - [Tree]: a path of a tree from its root to a leaf, with substitutes for nodes that are down (D. Agrawal
//     and A. El Abbadi, "An efficient and fault-tolerant solution for distributed mutual exclusion", ACM
//     TOCS 9(1), 1991).
//
// Nodes are numbered from 0 to n-1, and n is at least 1. Each returned set is the caller's own.
package quorum

import (
	"fmt"
	"math"

	"turnstile/nodes"
)

// Grid returns the nodes in the row and in the column of a node, itself included, in a grid of n nodes:
// rows+columns-1 nodes, with rows and columns as [GridRows] says. Without themselves, the quorums of a 2x2
// grid do not even meet.
func Grid(n int, id nodes.ID) (q nodes.Set) {
	rows := nodes.ID(GridRows(n))
	columns := nodes.ID(n) / rows
	for i := range columns {
		q.Add(id/columns*columns + i)
	}
	for i := range rows {
		q.Add(id%columns + i*columns)
	}
	return q
}

// GridRows returns how many rows a grid of n nodes has, which divides n: as many as columns, or the nearest
// to that from below. A prime number of nodes is a single row.
func GridRows(n int) int {
	rows := side(n)
	for n%rows != 0 {
		rows--
	}
	return rows
}

// side returns the side of the largest square of at most n nodes.
func side(n int) int { return int(math.Sqrt(float64(n))) }

// CheckSquare returns an error, with the nearest numbers that are right, unless the grid of n nodes is a
// square. All quorums of a square have one size, and each node is in as many quorums as any other.
func CheckSquare(n int) error {
	if side := side(n); side*side != n {
		return fmt.Errorf("the grid needs a square number of nodes; %d is not one: use %d or %d", n, side*side,
			(side+1)*(side+1))
	}
	return nil
}

// Cyclic returns the nodes id+d mod n for each d in a difference cover of n: a set such that every number
// mod n is a difference of two members. Then the quorums of i and j meet: j-i is some d-e, so i+d = j+e. A
// node is in its own quorum. All quorums have one size, about √(1.5n), and each node is in as many quorums
// as any other. (W.-S. Luk and T.-T. Wong, "Two new quorum based algorithms for distributed mutual
// exclusion", ICDCS 1997.)
func Cyclic(n int, id nodes.ID) (q nodes.Set) {
	for _, d := range differenceCover(n) {
		q.Add((id + d) % nodes.ID(n))
	}
	return q
}

// CheckPlane returns an error, with the reason and the nearest numbers that are right, unless the quorums of
// [Cyclic] for n nodes are the lines of a finite projective plane (or of a triangle). In a plane any two
// lines meet in exactly one node. It has n = K(K-1)+1 nodes and quorums of K, and no quorums of one size can
// be smaller; each number mod n but 0 is the difference of one pair only (J. Singer, 1938). But if the one
// node that two quorums share forgets whom it permits, both get in. Quorums of a grid share two nodes.
func CheckPlane(n int) error {
	if isPlane(n) {
		return nil
	}
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
	return fmt.Errorf("%d nodes form no projective plane, since %s: use %s", n, why, use)
}

// isPlane reports whether the cyclic quorums of n nodes are the lines of a projective plane, or of a
// triangle.
func isPlane(n int) bool {
	size := len(differenceCover(n))
	return size*(size-1)+1 == n
}

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

// ruler returns marks that measure every length from 1 to longest, as the difference of two of them. That
// covers every number mod n if longest is n/2, for x and -x mod n are measured together.
//
// B. Wichmann, "A note on restricted difference bases", J. London Math. Soc. 38, 1963, gives rulers of
// 4r+s+3 marks and length 4r(r+s+2)+3(s+1) for any r and s; C. J. Colbourn and A. C. H. Ling, "Quorums from
// difference covers", IPL 75, 2000, made quorums of them.
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
