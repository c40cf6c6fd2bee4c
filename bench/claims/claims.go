package claims

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"turnstile/docs"
	"turnstile/internal/suggest"
)

// A Source is a text that makes claims.
type Source struct{ Letter, Title string }

// A Claim is what a text says, and what shows it here.
type Claim struct {
	ID     string // as in J27: the letter of its text, and a number
	Source Source
	Says   string // in a sentence
	Text   string // its figure, or how the text has it
	Shown  Shown
	Lacks  string // of one that is shown in part: what is not shown
	Calls  []Call
	Held   []string // by tests: the cells of the page

	Verdict Verdict // None: the page does not say what was seen
	Mends   string  // if it is wrong: the rule that mends it; if it holds in part: where
	Seen    string  // in up to three sentences
	Themes  []string
}

// Shown says whether runs and tests show a claim: all of it, a part, or nothing.
type Shown string

// What is said of a claim in the column "shown".
const (
	Yes  Shown = "yes"
	Part Shown = "in part"
	No   Shown = "no"
)

// A Verdict says whether a claim is right, as the text prints it.
type Verdict string

// What is said of a claim in the column "verdict". The last two are followed by a colon, and by when it holds
// or what mends it.
const (
	None  Verdict = ""
	Holds Verdict = "holds"
	Often Verdict = "holds in part"
	Wrong Verdict = "wrong as printed"
)

var verdicts = []Verdict{Holds, Often, Wrong}

// Themes are what claims are about, and what that is.
var Themes = []struct{ Name, About string }{
	{"clocks", "stamps, and the order that they make"},
	{"costs", "messages, delays and rates"},
	{"elections", "who leads"},
	{"fairness", "who is passed over"},
	{"faults", "crashes, losses and silence, and what detects them"},
	{"models", "what is assumed, promised and proven"},
	{"memory", "shared variables, and primitives of one machine"},
	{"permissions", "asking all others"},
	{"quorums", "asking some others"},
	{"registers", "tickets, and variables that are read over messages"},
	{"resources", "what the lock is for, its names and its units"},
	{"servers", "a process that grants entries"},
	{"services", "locks that people use"},
	{"tokens", "one token, and who has it"},
}

// themeNames returns the names of all themes.
func themeNames() (names []string) {
	for _, t := range Themes {
		names = append(names, t.Name)
	}
	return names
}

// All returns the claims of the page, in its order.
func All() ([]*Claim, error) { return Read(docs.Coverage) }

var (
	claimID   = regexp.MustCompile(`^[A-Z][0-9]+$`)
	heading   = regexp.MustCompile(`^## ([A-Z]): (.+)$`)
	backquote = regexp.MustCompile("`([^`]*)`")
	// A row of a service names a program that has to be there.
	exitCell = regexp.MustCompile(`^([0-9]+)(?:, if there is ([a-z0-9 -]+))?$`)
)

// Spans returns what stands in backquotes in a cell.
func Spans(cell string) (all []string) {
	for _, m := range backquote.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// A reader goes through the page.
type reader struct {
	source Source
	seen   map[string][]string // the rows of the first tables, by claim
	all    []*Claim
}

// Read reads the tables of the page.
func Read(page string) ([]*Claim, error) {
	r := reader{seen: map[string][]string{}}
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if m := heading.FindStringSubmatch(line); m != nil {
			r.source = Source{m[1], m[2]}
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
			continue
		}
		row := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if row[0] == "claim" {
			continue
		}
		if err := r.row(row); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	for _, c := range r.all {
		if row := r.seen[c.ID]; row != nil {
			delete(r.seen, c.ID)
			if err := c.judged(row); err != nil {
				return nil, fmt.Errorf("%s: %w", c.ID, err)
			}
		}
	}
	for id := range r.seen {
		return nil, fmt.Errorf("%s has a row of what was seen, and none of what shows it", id)
	}
	return r.all, nil
}

// row takes in a row of either table.
func (r *reader) row(row []string) error {
	id := row[0]
	switch {
	case len(row) == 5 && claimID.MatchString(id) && r.seen[id] == nil:
		r.seen[id] = row
		return nil
	case len(row) == 5:
		return errors.New("it begins with no claim, or is the second of it")
	case len(row) != 7:
		return fmt.Errorf("it has %d cells: what was seen has 5, what shows it 7", len(row))
	case claimID.MatchString(id):
		shown, lacks, _ := strings.Cut(row[2], ": ")
		r.all = append(r.all, &Claim{ID: id, Source: r.source, Says: row[1], Shown: Shown(shown), Lacks: lacks})
	case id != "" || len(r.all) == 0:
		return errors.New("it begins with no claim")
	}
	return r.all[len(r.all)-1].shownBy(row[3:])
}

// shownBy reads the cells that name a call and a test of the claim.
func (c *Claim) shownBy(cells []string) error {
	if commands := Spans(cells[0]); len(commands) == 1 {
		call, err := newCall(commands[0], cells[1], cells[2])
		if err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		c.Calls = append(c.Calls, call)
	} else if cells[0] != "" {
		return fmt.Errorf("%s: %q is not one command in backquotes", c.ID, cells[0])
	}
	if cells[3] != "" {
		c.Held = append(c.Held, cells[3])
	}
	return nil
}

// judged reads the row with the verdict on the claim and what was seen.
func (c *Claim) judged(row []string) error {
	verdict, mends, _ := strings.Cut(row[2], ": ")
	c.Text, c.Verdict, c.Mends, c.Seen = row[1], Verdict(verdict), mends, row[3]
	for theme := range strings.SplitSeq(row[4], ", ") {
		if !slices.Contains(themeNames(), theme) {
			return fmt.Errorf("there is no theme %q%s", theme, suggest.Hint(theme, themeNames()))
		}
		c.Themes = append(c.Themes, theme)
	}
	return nil
}

// newCall makes a call of its cells.
func newCall(command, exit, prints string) (Call, error) {
	m := exitCell.FindStringSubmatch(exit)
	args, does := strings.CutPrefix(command, "orchestrator ")
	switch lines := Spans(prints); {
	case m == nil:
		return Call{}, fmt.Errorf("%q is no exit status", exit)
	case !does || len(lines) == 0:
		return Call{}, fmt.Errorf("%q is no call of the orchestrator, or it is not said what it prints", command)
	default:
		status, _ := strconv.Atoi(m[1]) // digits, which the cell is made of
		return Call{Args: Words(args), Command: command, Status: status, Needs: m[2], Prints: lines}, nil
	}
}
