package claims

import (
	"fmt"
	"slices"
	"strings"
)

// A Call is a call of the program, and what is to come of it.
type Call struct {
	Command string   // as one types it
	Args    []string // without the name of the program
	Status  int
	Needs   string   // a server that has to be there; empty: none
	Prints  []string // lines in their order; spaces count as one; "..." ends a prefix
}

// Shows returns the printed lines that the page names, with their spaces. It returns an error unless the call
// ended with its status and printed all of these lines in their order.
func (c *Call) Shows(status int, printed string) (shown []string, err error) {
	if status != c.Status {
		return nil, fmt.Errorf("%s ends with status %d, and not %d:\n%s", c.Command, status, c.Status, printed)
	}
	rest := strings.Split(printed, "\n")
	for _, want := range c.Prints {
		at := slices.IndexFunc(rest, func(line string) bool { return matches(line, want) })
		if at < 0 {
			return shown, fmt.Errorf("%s does not print the line %q, or not in this order:\n%s", c.Command, want,
				printed)
		}
		shown, rest = append(shown, strings.TrimSpace(rest[at])), rest[at+1:]
	}
	return shown, nil
}

// matches reports whether a printed line is one that the page has.
func matches(line, want string) bool {
	line = strings.Join(strings.Fields(line), " ")
	if begins, is := strings.CutSuffix(want, "..."); is {
		return strings.HasPrefix(line, begins)
	}
	return line == want
}

// A Rule is a rule that a story has changed in one of its forms, and what becomes of that. A test plays it.
type Rule struct{ Story, Changed, Ends string }

// Rules returns the changed rules that the tests of a claim try.
func (c *Claim) Rules() (all []Rule) {
	for _, cell := range c.Held {
		words := Spans(cell)
		if _, story, is := strings.Cut(words[0], "/"); is && len(words) == 3 {
			all = append(all, Rule{Story: story, Changed: words[1], Ends: words[2]})
		}
	}
	return all
}

// Words splits a command at its spaces, and keeps together what stands in quotes of either sort, as a shell
// does.
func Words(command string) (words []string) {
	var quote rune // that is open
	begun := false
	for _, r := range command {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			begun = false
			continue
		default:
			if !begun {
				words, begun = append(words, ""), true
			}
			words[len(words)-1] += string(r)
		}
	}
	return words
}
