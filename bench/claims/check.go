package claims

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Gap says what a claim lacks: a run or test that shows it, a part of it, or a text of what was seen. It is
// empty if the claim is complete.
func (c *Claim) Gap() string {
	switch {
	case c.Shown == No:
		return "nothing shows it"
	case c.Lacks != "":
		return c.Lacks
	case c.Verdict == None:
		return "it is shown, and nobody has written what was seen"
	}
	return ""
}

// Check returns the contradictions in what the page says of a claim. It makes no run.
func (c *Claim) Check() (wrong []error) {
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%s: "+format, append([]any{c.ID}, args...)...))
	}
	evidence := len(c.Calls) + len(c.Held)
	switch {
	case !slices.Contains([]Shown{Yes, Part, No}, c.Shown) || (c.Shown == Part) != (c.Lacks != ""):
		say(`it is neither shown "yes", "no", nor "in part: " and what is not shown`)
	case c.Shown == No && evidence > 0:
		say("it is not shown, yet has %d rows that show it", evidence)
	case c.Shown != No && evidence == 0:
		say("nothing shows that %s", c.Says)
	}
	if c.Text == "" {
		say("it is not said how the text has it")
	}
	if c.Verdict == None && c.Seen == "" && c.Mends == "" {
		return wrong
	}
	switch {
	case c.Shown == No:
		say("nothing shows it, yet there is a verdict")
	case !slices.Contains(verdicts, c.Verdict) || (c.Verdict == Holds) != (c.Mends == ""):
		say(`its verdict is neither "holds", "holds in part: " and when, nor "wrong as printed: " and the cure`)
	}
	if n := len(Sentences(c.Seen)); n < 1 || n > 3 {
		say("what was seen takes one to three sentences, and not %d", n)
	}
	for _, figure := range figures(c.Seen) {
		if !slices.Contains(figures(c.evidence()), figure) {
			say("%s was seen, and is in none of its calls, nor in what these print", figure)
		}
	}
	return wrong
}

// A figure is no part of a formula or of a name, as those in N-1, 2(N-1), 2√N and K5.
var figure = regexp.MustCompile(`(?:^|[^\w.,-])([0-9]+(?:[.,][0-9]+)*)([(√N]?)`)

// figures returns the numbers in a text: 9 and 9.0000 are the same.
func figures(text string) (all []string) {
	for _, m := range figure.FindAllStringSubmatch(text, -1) {
		if m[2] != "" {
			continue
		}
		if whole, part, has := strings.Cut(m[1], "."); has {
			m[1] = strings.TrimSuffix(whole+"."+strings.TrimRight(part, "0"), ".")
		}
		all = append(all, m[1])
	}
	return all
}

// Sentences returns the sentences of a text.
func Sentences(text string) (all []string) {
	for _, s := range regexp.MustCompile(`[^.:]\.(?: |$)`).Split(text, -1) {
		if s != "" {
			all = append(all, s)
		}
	}
	return all
}

// evidence returns all that the page says of a claim but what was seen.
func (c *Claim) evidence() string {
	all := []string{c.Says, c.Text, c.Mends, c.Lacks}
	for _, call := range c.Calls {
		all = append(append(all, call.Command), call.Prints...)
	}
	return strings.Join(append(all, c.Held...), " ")
}
