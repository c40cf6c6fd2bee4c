// Package ddmin minimizes failing inputs.
package ddmin

import "slices"

// Reduce returns a part of items that still fails. The part passes if any adjacent items (1 up to neighbours)
// are left out of it. fails reports whether some items, in their order, fail; all items together must fail.
//
// It leaves out halves first, by ddmin of A. Zeller and R. Hildebrandt, "Simplifying and isolating
// failure-inducing input", IEEE Transactions on Software Engineering 28(2), 2002.
func Reduce[T any](items []T, neighbours int, fails func([]T) bool) []T {
	if len(items) == 0 || fails(nil) {
		return nil
	}
	for parts := 2; len(items) > 1; {
		size := (len(items) + parts - 1) / parts
		if rest := without(items, size, size, fails); rest != nil {
			items, parts = rest, max(2, parts-1)
			continue
		}
		if size == 1 {
			break
		}
		parts = min(2*parts, len(items))
	}
	for size := min(neighbours, len(items)-1); size > 1; size-- {
		if rest := without(items, size, 1, fails); rest != nil {
			return Reduce(rest, neighbours, fails) // now more items may be superfluous
		}
	}
	return items
}

// without leaves out as many adjacent items as size says, from a multiple of step on, and returns the first
// rest that still fails. It returns nil if there is no such rest.
func without[T any](items []T, size, step int, fails func([]T) bool) []T {
	for from := 0; from < len(items); from += step {
		rest := slices.Concat(items[:from], items[min(from+size, len(items)):])
		if len(rest) > 0 && fails(rest) {
			return rest
		}
	}
	return nil
}
