package row

import (
	"fmt"
	"strings"

	"turnstile/internal/suggest"
)

// Find returns the row of table with that name or alias, in upper or lower case. The error for an unknown
// name says what the table lists, as in "algorithm", which names may have been meant, and where all are.
func Find(what string, table []*Row, name string) (*Row, error) {
	known := suggest.List{Aliases: map[string][]string{}, By: "list"}
	for _, row := range table {
		for _, word := range append([]string{row.Name}, row.Aliases...) {
			if strings.EqualFold(word, name) {
				return row, nil
			}
		}
		known.Names = append(known.Names, row.Name)
		known.Aliases[row.Name] = row.Aliases
	}
	return nil, &UnknownError{what, name, known.Hint(name)}
}

// An UnknownError says that no row of a table goes by a name.
type UnknownError struct{ what, name, hint string }

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown %s %q%s", e.what, e.name, e.hint) }
