package explore

import "turnstile/nodes/row"

// Where the resource demands fence numbers (Config.Fenced), that two are inside is no violation: of what they
// write, it refuses what is under a lower number than the highest that has entered. What can still go wrong
// is that somebody enters under the same number as that one. Then the resource accepts what either writes, in
// any order, though both are inside, or one has left: see judge/section/fence.go. Who enters under a lower
// number was let in before, and heard of it late; what it writes is refused. An entry without a number is
// wrong.

// The highest number under which anybody has entered each such resource is in two words of a state, behind
// its faults.
const fenceWords = 2

// fenced returns which of the resources of a stack demand fence numbers.
func fenced(stack *row.Stack) (resources []int) {
	for r, instance := range stack.Mutexes() {
		if stack.Fenced(instance) {
			resources = append(resources, r)
		}
	}
	return resources
}

// highest returns the highest number under which anybody has entered the ith such resource, in a state.
func (w *worker) highest(state []uint32, i int) uint64 {
	at := w.fences + fenceWords*i
	return uint64(state[at])<<32 | uint64(state[at+1])
}

// raise brings the highest numbers up to date in a state, which is about to come about by an entry.
func (w *worker) raise(state []uint32, out *outcome) {
	for i, r := range w.fenced {
		if out.entered>>r&1 != 0 && out.fences[r] > w.highest(state, i) {
			at := w.fences + fenceWords*i
			state[at], state[at+1] = uint32(out.fences[r]>>32), uint32(out.fences[r])
		}
	}
}
