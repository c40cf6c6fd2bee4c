// Package suggest finds the word that a mistyped one was meant to be.
package suggest

import (
	"slices"
	"strings"
)

// Nearest returns the known word that may have been meant by word, or nothing if none resembles it.
func Nearest(word string, known []string) string {
	nearest, distance := "", max(2, len(word)/3)+1
	for _, k := range known {
		d := Distance(strings.ToLower(word), k)
		if len(k) > 2 && strings.HasPrefix(strings.ToLower(word), k) {
			d = 1 // algorithm for algo
		}
		// At a distance of its whole length, a word need not share a letter.
		if d < distance && d < len(k) {
			nearest, distance = k, d
		}
	}
	return nearest
}

// Hint is the end of an error about an unknown word: the known word that may have been meant, or all of them.
func Hint(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return "; there are: " + strings.Join(known, ", ")
}

// Distance returns how many letters must be put in, taken out or changed to make b of a.
func Distance(a, b string) int {
	row := make([]int, len(b)+1) // row[j]: the distance from the letters of a so far to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
