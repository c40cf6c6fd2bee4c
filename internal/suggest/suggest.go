// Package suggest finds the likely meaning of a mistyped word.
package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/pattern"
)

// Nearest returns the known word that word may stand for, or "" if no known word is similar.
func Nearest(word string, known []string) string {
	word = bounded(word)
	nearest, distance := "", tolerance(word)+1
	for _, k := range known {
		d := Distance(strings.ToLower(word), k)
		if len(k) > 2 && strings.HasPrefix(strings.ToLower(word), k) {
			d = 1 // a longer form of k, such as algorithm for algo
		}
		// At a distance of len(k), word and k may have no letter in common.
		if d < distance && d < len(k) {
			nearest, distance = k, d
		}
	}
	return nearest
}

// Hint returns the end of an error about an unknown word: the likely known word, or all known words.
func Hint(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return "; there are: " + strings.Join(known, ", ")
}

// A List has the names that a word may be.
type List struct {
	Names   []string
	Aliases map[string][]string // other words for a name, by the name
	By      string              // the command that prints all names
}

// few is how many names an error lists at most.
const few = 12

// Hint returns the end of an error about a word that is not in the list: all names if they are few, and
// otherwise the nearest three and the command that prints all.
func (l List) Hint(word string) string {
	word = bounded(word)
	names := slices.Clone(l.Names)
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(l.distance(word, a), l.distance(word, b))
	})
	nearest := l.distance(word, names[0])
	alike := nearest <= tolerance(word) && nearest < len(word)
	switch {
	case len(names) > few && alike:
		return fmt.Sprintf(": did you mean %s, %s or %s? See %s for all %d", names[0], names[1], names[2], l.By,
			len(names))
	case len(names) > few:
		return fmt.Sprintf("; the nearest are %s, %s and %s: see %s for all %d", names[0], names[1], names[2], l.By,
			len(names))
	case alike:
		return fmt.Sprintf(": did you mean %s? There are: %s", names[0], strings.Join(l.Names, ", "))
	}
	return "; there are: " + strings.Join(l.Names, ", ")
}

// distance returns the least distance of a word from a name, its aliases, or their parts between hyphens. The
// distance from a part counts one more.
func (l List) distance(word, name string) int {
	word = strings.ToLower(word)
	least := len(word) + len(name)
	for _, k := range append([]string{name}, l.Aliases[name]...) {
		least = min(least, Distance(word, k))
		for part := range strings.SplitSeq(k, "-") {
			least = min(least, Distance(word, part)+1)
		}
	}
	return least
}

// bounded cuts off a word that is longer than any name, since computing the distances of long words takes
// long.
func bounded(word string) string { return word[:min(len(word), 100)] }

// tolerance returns the distance up to which words count as similar.
func tolerance(word string) int { return max(2, len(word)/3) }

// Distance returns the edit distance from a to b: insertions, deletions and changes of letters.
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

var unitless = pattern.Of(`^[0-9]+(\.[0-9]+)?$`)

// Unit returns an error about a length of time without a unit, or nil if text is not a plain number. likely
// is the unit to suggest.
func Unit(text, likely string) error {
	if text = strings.TrimSpace(text); !unitless().MatchString(text) {
		return nil
	}
	return fmt.Errorf("%s has no unit: did you mean %s%s?", text, text, likely)
}
