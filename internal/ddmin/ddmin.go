// Package ddmin makes what fails smaller.
package ddmin

import "slices"

// Reduce returns items that still fail, of which no row of neighbours, at most so many, can be left out.
// fails says whether some of the items fail, in their order; it is not asked about all of them, which do.
//
// It halves first, by ddmin of A. Zeller and R. Hildebrandt, "Simplifying and isolating
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
			return Reduce(rest, neighbours, fails) // what only the dropped ones needed can go now
		}
	}
	return items
}

// without leaves out the first row of so many neighbours without which the rest fails, of those that begin at
// every so many items. It returns nil if there is none.
func without[T any](items []T, size, step int, fails func([]T) bool) []T {
	for from := 0; from < len(items); from += step {
		rest := slices.Concat(items[:from], items[min(from+size, len(items)):])
		if len(rest) > 0 && fails(rest) {
			return rest
		}
	}
	return nil
}
