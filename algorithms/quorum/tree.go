package quorum

import "turnstile/nodes"

// Tree returns the quorum of a node in a binary tree of n nodes. The children of node i are 2i+1 and 2i+2.
// The quorum is the path from the root through the node to a leaf; below the node the path turns left. A node
// of the path that is in down, and is no leaf, is replaced by two paths to leaves, one from each of its
// children. Quorums leave out a node with one child. The result is false if every quorum has a node in down.
//
// Any two quorums meet, whatever nodes are down in the eyes of each asker. Take two quorums of the subtree
// below a node. Either both have the node, or one of them has paths from both children. Then the other has a
// path from one of these children, and by induction the two paths from this child meet.
func Tree(n int, id nodes.ID, down nodes.Set) (q nodes.Set, ok bool) {
	return pathOf(n, 0, id, down)
}

// pathOf returns a path from top to a leaf of the tree of n nodes, with substitutes for the nodes in down.
// It goes through self if that is below top, and otherwise to the left. It returns false without such a
// path.
func pathOf(n int, top, self nodes.ID, down nodes.Set) (path nodes.Set, ok bool) {
	left, right := 2*top+1, 2*top+2
	switch {
	case int(left) >= n:
		return nodes.SetOf(top), !down.Has(top)
	case int(right) >= n:
		return pathOf(n, left, self, down)
	}
	way, other := left, right
	for at := self; at > top; at = (at - 1) / 2 {
		if at == right {
			way, other = right, left
		}
	}
	path, ok = pathOf(n, way, self, down)
	if ok && !down.Has(top) {
		path.Add(top)
		return path, true
	}
	beside, too := pathOf(n, other, self, down)
	switch {
	case !down.Has(top):
		beside.Add(top)
		return beside, too
	case ok && too:
		for id := range beside.All() {
			path.Add(id)
		}
		return path, true
	}
	return path, false
}

// HasTree reports whether the nodes for which has returns true contain a quorum of the tree of n nodes, with
// any nodes down (see [Tree]).
func HasTree(n int, has func(nodes.ID) bool) bool { return contains(0, nodes.ID(n), has) }

// contains reports whether the accepted nodes contain a quorum of the tree below top.
func contains(top, n nodes.ID, has func(nodes.ID) bool) bool {
	left, right := 2*top+1, 2*top+2
	switch {
	case left >= n:
		return has(top)
	case right >= n:
		return contains(left, n, has)
	case contains(left, n, has):
		return has(top) || contains(right, n, has)
	}
	return has(top) && contains(right, n, has)
}
