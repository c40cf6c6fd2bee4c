// Package suggest finds the word that a mistyped one was meant to be.
package suggest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Nearest returns the known word that may have been meant by word, or nothing if none resembles it.
func Nearest(word string, known []string) string {
	nearest, distance := "", tolerance(word)+1
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

// A List is the names that a word may be one of.
type List struct {
	Names   []string
	Aliases map[string][]string // other words for a name, by the name
	By      string              // the command that prints them all
}

// few is how many names a list may have of which an error prints all.
const few = 12

// Hint is the end of an error about a word that is none of the list: all names if they are few, and otherwise
// the nearest three and the command that prints all.
func (l List) Hint(word string) string {
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

// distance returns how far a word is from a name, or one of its aliases, or one of the words that these are
// made of: from such a one it is one farther, as it says less.
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

// tolerance is the distance up to which a word resembles another.
func tolerance(word string) int { return max(2, len(word)/3) }

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

var unitless = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`) })

// Unit is an error about a length of time that lacks its unit, if that is what is wrong with a text. likely
// is the unit that may have been meant.
func Unit(text, likely string) error {
	if text = strings.TrimSpace(text); !unitless().MatchString(text) {
		return nil
	}
	return fmt.Errorf("%s has no unit: did you mean %s%s?", text, text, likely)
}
