package nodes

import (
	"fmt"
	"strings"
	"turnstile/internal/suggest"
)

// Find returns the row of table with that name or alias, in upper or lower case. The error for an unknown
// name says what the table lists, as in "algorithm", and which names there are and may have been meant.
func Find(what string, table []*Spec, name string) (*Spec, error) {
	var names, known []string
	meant := map[string]string{} // the name of the row, by all its names
	for _, row := range table {
		names = append(names, row.Name)
		for _, word := range append([]string{row.Name}, row.Aliases...) {
			if strings.EqualFold(word, name) {
				return row, nil
			}
			known = append(known, word)
			meant[word] = row.Name
		}
	}
	near := suggest.Nearest(name, known)
	if near == "" {
		return nil, fmt.Errorf("unknown %s %q; there are: %s", what, name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("unknown %s %q: did you mean %q? There are: %s", what,
		name, meant[near], strings.Join(names, ", "))
}
