package nodes

import (
	"fmt"
	"slices"
	"strings"
)

// Find returns the row of table that goes by name, or has it as an alias, in upper or lower case.
// The error for an unknown name says which there are, and which of them may have been meant.
func Find[M Machine](table []Spec[M], name string) (*Spec[M], error) {
	var names, known []string
	meant := map[string]string{} // the name of the row, by all its names
	for i := range table {
		row := &table[i]
		names = append(names, row.Name)
		for _, word := range append([]string{row.Name}, row.Aliases...) {
			if strings.EqualFold(word, name) {
				return row, nil
			}
			known = append(known, word)
			meant[word] = row.Name
		}
	}
	near := Nearest(name, known)
	if near == "" {
		return nil, fmt.Errorf("unknown algorithm %q; there are: %s", name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("unknown algorithm %q: did you mean %q? There are: %s",
		name, meant[near], strings.Join(names, ", "))
}

// Nearest returns the known word that may have been meant by word, or nothing if none resembles it.
func Nearest(word string, known []string) string {
	nearest, distance := "", max(2, len(word)/3)+1
	for _, k := range known {
		d := editDistance(strings.ToLower(word), k)
		if len(k) > 2 && strings.HasPrefix(strings.ToLower(word), k) {
			d = 1 // algorithm for algo
		}
		// A word as short as the number of its wrong letters resembles everything.
		if d < distance && d < len(k) {
			nearest, distance = k, d
		}
	}
	return nearest
}

// editDistance returns how many letters must be put in, taken out or changed to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // row[j]: the distance from what was seen of a to b[:j]
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
