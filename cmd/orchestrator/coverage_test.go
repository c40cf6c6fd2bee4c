package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	coveragePage = "../../docs/coverage.md"
	rootOfClone  = "../.."
)

// coveredTexts are the texts that the page is about: their letters, and how many claims each makes.
var coveredTexts = []struct {
	letter string
	claims int
}{{"J", 40}, {"T", 23}, {"L", 27}, {"K", 17}, {"G", 20}}

// A claim is one or more rows of a table of the page on coverage.
type claim struct {
	id, says string
	shown    string // yes, no, or "in part: " and what is not
	calls    []call
	held     []string // by tests: the cells
}

// A call is a command of the page, and what is to come of it.
type call struct {
	command, status string
	prints          []string // whole lines, in order
}

var (
	claimID = regexp.MustCompile(`^[JTLKG][0-9]+$`)
	// The module of services is one of its own: go test is called in its folder.
	testCall  = regexp.MustCompile(`^(?:cd (services) && )?go test \./(\S+) -run (Test\w+)(?:/(\S+))?$`)
	backquote = regexp.MustCompile("`([^`]*)`")
)

// spans returns what stands in backquotes in a cell.
func spans(cell string) (all []string) {
	for _, m := range backquote.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// readClaims reads the tables of the page. A row without a claim goes on with that above it.
func readClaims(text string) (all []*claim, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		row := strings.Split(strings.Trim(line, "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		id := row[0]
		switch {
		case id == "claim" || strings.HasPrefix(id, "---"):
			continue
		case len(row) != 7:
			return nil, fmt.Errorf("%q has %d cells, and not 7", line, len(row))
		case claimID.MatchString(id):
			all = append(all, &claim{id: id, says: row[1], shown: row[2]})
		case id != "" || len(all) == 0:
			return nil, fmt.Errorf("%q begins with no claim", line)
		}
		c := all[len(all)-1]
		if commands := spans(row[3]); len(commands) == 1 {
			c.calls = append(c.calls, call{commands[0], row[4], spans(row[5])})
		} else if row[3] != "" {
			return nil, fmt.Errorf("%s: %q is not one command in backquotes", id, row[3])
		}
		if row[6] != "" {
			c.held = append(c.held, row[6])
		}
	}
	return all, nil
}

// countClaims returns an error unless the page has each claim of each text once, in order, and says at its
// top how many of them are shown.
func countClaims(text string, all []*claim) error {
	at, yes, part := 0, 0, 0
	for _, text := range coveredTexts {
		for n := 1; n <= text.claims; n++ {
			if want := fmt.Sprint(text.letter, n); at >= len(all) || all[at].id != want {
				return fmt.Errorf("claim %d of the page is not %s", at+1, want)
			}
			at++
		}
	}
	if at != len(all) {
		return fmt.Errorf("the page has %d claims more than there are", len(all)-at)
	}
	for _, c := range all {
		switch {
		case c.shown == "yes":
			yes++
		case strings.HasPrefix(c.shown, "in part: "):
			part++
		}
	}
	counts := fmt.Sprintf("\nOf %d claims %d are shown, %d in part, and %d are not.\n", at, yes, part,
		at-yes-part)
	if !strings.Contains(text, counts) {
		return fmt.Errorf("the page does not say: %s", strings.TrimSpace(counts))
	}
	return nil
}

// outcomes makes each call of the page once.
type outcomes struct {
	results string // folder of result sets
	mu      sync.Mutex
	made    map[string]func() (status int, lines []string)
}

// of returns the exit status of a command, and the lines that it prints, in which spaces count as one.
func (o *outcomes) of(t *testing.T, command string) (status int, lines []string) {
	o.mu.Lock()
	made, found := o.made[command]
	if !found {
		made = sync.OnceValues(func() (int, []string) { return o.call(t, command) })
		o.made[command] = made
	}
	o.mu.Unlock()
	return made()
}

func (o *outcomes) call(t *testing.T, command string) (status int, lines []string) {
	args := argsOf(command)
	if at := slices.Index(args, "--replay"); at >= 0 && at+1 < len(args) {
		args[at+1] = filepath.Join(rootOfClone, args[at+1])
	} else if args[0] == "simulate" {
		args = append(args, "--results", o.results)
	}
	var out bytes.Buffer
	status = run(t.Context(), args, &out, &out)
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return status, lines
}

// check returns what is wrong with a claim: nothing shows it, or something does not show what it is to show.
func (o *outcomes) check(t *testing.T, c *claim) (wrong []error) {
	lacks := strings.TrimPrefix(c.shown, "in part: ")
	evidence := len(c.calls) + len(c.held)
	switch {
	case c.shown == "no" && evidence > 0:
		wrong = append(wrong, fmt.Errorf("%s is not shown, yet has %d rows that show it", c.id, evidence))
	case c.shown != "no" && evidence == 0:
		wrong = append(wrong, fmt.Errorf("nothing shows that %s", c.says))
	case c.shown != "yes" && c.shown != "no" && (lacks == c.shown || lacks == ""):
		wrong = append(wrong, fmt.Errorf(`%q is neither yes, no, nor "in part: " and what is not shown`, c.shown))
	}
	for _, call := range c.calls {
		if err := o.checkCall(t, call); err != nil {
			wrong = append(wrong, err)
		}
	}
	for _, cell := range c.held {
		if err := checkHeld(cell); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// checkCall returns an error unless a command ends with its status, having printed its lines in their order.
func (o *outcomes) checkCall(t *testing.T, call call) error {
	command, does := strings.CutPrefix(call.command, "orchestrator ")
	if !does || len(call.prints) == 0 {
		return fmt.Errorf("%q is no call of the orchestrator, or it is not said what it prints", call.command)
	}
	status, lines := o.of(t, command)
	if want, err := strconv.Atoi(call.status); err != nil || status != want {
		return fmt.Errorf("%s ends with status %d, and not %q:\n%s", call.command, status, call.status,
			strings.Join(lines, "\n"))
	}
	rest := lines
	for _, want := range call.prints {
		at := slices.Index(rest, want)
		if at < 0 {
			return fmt.Errorf("%s does not print the line %q, or not in this order:\n%s", call.command, want,
				strings.Join(lines, "\n"))
		}
		rest = rest[at+1:]
	}
	return nil
}

// checkHeld returns an error unless the test of a cell is in the package that the cell names. If it is about
// a changed rule, there must be a story in which a form with that rule ends so; the test has it played.
func checkHeld(cell string) error {
	words := spans(cell)
	if len(words) != 1 && len(words) != 3 {
		return fmt.Errorf("%q is no call of go test, with a rule and what becomes of it or without", cell)
	}
	m := testCall.FindStringSubmatch(words[0])
	if m == nil {
		return fmt.Errorf("%q is no call of go test", words[0])
	}
	module, in, test, story := m[1], m[2], m[3], m[4]
	folder := filepath.Join(rootOfClone, module, in)
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(file string) bool {
		b, err := os.ReadFile(file)
		return err == nil && bytes.Contains(b, []byte("\nfunc "+test+"(t *testing.T) {"))
	}) {
		return fmt.Errorf("there is no %s in %s", test, filepath.Join(module, in))
	}
	if len(words) == 1 {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(folder, "testdata", story+".txt"))
	if err != nil {
		return err
	}
	if end := endOf(string(b), words[1]); end != words[2] {
		return fmt.Errorf("%s: if %s, it ends with %q, and not %q", words[0], words[1], end, words[2])
	}
	return nil
}

// endOf returns what comes of the form of a title in a story.
func endOf(story, title string) string {
	_, told, _ := strings.Cut(story, "\n---- "+title+"\n")
	for line := range strings.Lines(told) {
		if line = strings.TrimSpace(line); line == "nothing is broken" || strings.HasPrefix(line, "broken: ") {
			return line
		}
		if strings.HasPrefix(line, "----") {
			break
		}
	}
	return ""
}

// Every claim of the texts that the project grew from has its rows, and what they say shows it does.
func TestCoverage(t *testing.T) {
	text := page(t, coveragePage)
	all, err := readClaims(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := countClaims(text, all); err != nil {
		t.Error(err)
	}
	o := &outcomes{results: t.TempDir(), made: map[string]func() (int, []string){}}
	for _, c := range all {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			for _, err := range o.check(t, c) {
				t.Error(err)
			}
		})
	}
}

// A page that claims what is not so is refused.
func TestCoverageIsChecked(t *testing.T) {
	text := page(t, coveragePage)
	o := &outcomes{results: t.TempDir(), made: map[string]func() (int, []string){}}
	for _, test := range []struct{ id, old, new, want string }{
		{"J3", "published 3 per entry (3): confirmed", "published 4 per entry (3): confirmed",
			`does not print the line "published 4 per entry`},
		{"J3", "published 3 per entry (3): confirmed", "published 3 per entry", "does not print the line"},
		{"J3", "| 0 |", "| 1 |", `ends with status 0, and not "1"`},
		{"J9", "with 5 requests unserved", "with 3 requests unserved", "does not print the line"},
		{"T1", "VALID no two were inside together in 3 entries", "VIOLATED", `does not print the line "VIOLATED"`},
		{"T1", "`node 2 asks and sends request to server 3`<br>", "", ""}, // less is claimed
		{"T1", "`node 0 asks and sends request to server 3`", "`node 1 enters`", "or not in this order"},
		{"T1", "central/order.txt", "central/disorder.txt", "ends with status 64"},
		{"T9", "`broken: exclusion`", "`nothing is broken`", `it ends with "broken: exclusion", and not`},
		{"T9", "the clock falls back", "the clock stands still", `it ends with "", and not`},
		{"T9", "clock`: if", "cloak`: if", "no such file"},
		{"T8", "TestDetectorsChangeNothingBeside", "TestDetectorsChangeAll", "there is no TestDetectorsChangeAll"},
		{"T8", "./nodes/sim", "./nodes/mutex", "there is no TestDetectorsChangeNothingBeside in nodes/mutex"},
		{"T8", "`go test ./nodes/sim -run TestDetectorsChangeNothingBeside`", "", "nothing shows"},
		{"T8", "go test", "go vet", "is no call of go test"},
		{"G4", "TestOneWaiterIsWoken", "TestAllAreWoken", "there is no TestAllAreWoken in services/"},
		{"G4", "cd services && ", "", "there is no TestOneWaiterIsWoken in etcd"},
		{"T8", "| yes |", "| no |", "is not shown, yet has 1 row"},
		{"T8", "| yes |", "| almost |", "is neither yes, no"},
		{"J1", "| no |", "| in part: jobs |", "nothing shows"},
	} {
		mutated := changeClaim(t, text, test.id, test.old, test.new)
		all, err := readClaims(mutated)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(all, func(c *claim) bool { return c.id == test.id })
		wrong := fmt.Sprint(o.check(t, all[at]))
		if test.want == "" && wrong != "[]" || !strings.Contains(wrong, test.want) {
			t.Errorf("%s with %q for %q: %s, want %q", test.id, test.new, test.old, wrong, test.want)
		}
	}
	for _, test := range []struct{ id, old, new, want string }{
		{"J1", "| no |", "| yes |", "the page does not say: Of 127 claims"},
		{"J1", "| J1 |", "| J2 |", "claim 1 of the page is not J1"},
		{"G20", "| G20 |", "| G21 |", "claim 127 of the page is not G20"},
	} {
		mutated := changeClaim(t, text, test.id, test.old, test.new)
		all, err := readClaims(mutated)
		if err != nil {
			t.Fatal(err)
		}
		if err := countClaims(mutated, all); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s with %q for %q: %v, want %q", test.id, test.new, test.old, err, test.want)
		}
	}
}

// changeClaim returns the page with something else in the rows of a claim.
func changeClaim(t *testing.T, text, id, old, other string) string {
	t.Helper()
	before, rows, _ := strings.Cut(text, "\n| "+id+" |")
	rows, after, _ := strings.Cut("\n| "+id+" |"+rows, "\n| "+next(id)+" |")
	if !strings.Contains(rows, old) {
		t.Fatalf("%q is not in the rows of %s", old, id)
	}
	if after != "" {
		after = "\n| " + next(id) + " |" + after
	}
	return before + strings.Replace(rows, old, other, 1) + after
}

// next returns the claim after another of its text.
func next(id string) string {
	n, _ := strconv.Atoi(id[1:])
	return fmt.Sprint(id[:1], n+1)
}
