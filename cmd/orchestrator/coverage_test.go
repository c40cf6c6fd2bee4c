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

	"turnstile/bench/claims"
	"turnstile/bench/service"
	"turnstile/internal/soak"
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

// The module of services is one of its own: go test is called in its folder.
var testCall = regexp.MustCompile(`^(?:cd (services) && )?go test \./(\S+) -run (Test\w+)(?:/(\S+))?$`)

// countClaims returns an error unless the page has each claim of each text once, in order, and says at its
// top how many of them are shown.
func countClaims(text string, all []*claims.Claim) error {
	at, yes, part := 0, 0, 0
	for _, text := range coveredTexts {
		for n := 1; n <= text.claims; n++ {
			if want := fmt.Sprint(text.letter, n); at >= len(all) || all[at].ID != want {
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
		case c.Shown == claims.Yes:
			yes++
		case c.Shown == claims.Part:
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
	made    map[string]func() (status int, printed string)
}

// usesOwnService reports whether a call runs a service of this program, whose clients are this program, too:
// not that of the test.
func usesOwnService(args []string) bool {
	return slices.ContainsFunc(ownServices, func(s *service.Service) bool {
		return slices.Contains(args, s.Name)
	})
}

// callBuilt makes a call of the program as it is built.
func callBuilt(t *testing.T, args []string) (status int, printed string) {
	cmd := orchestrator(t, t.TempDir(), args...)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// of returns the exit status of a call, and what it prints.
func (o *outcomes) of(t *testing.T, call *claims.Call) (status int, printed string) {
	o.mu.Lock()
	made, found := o.made[call.Command]
	if !found {
		made = sync.OnceValues(func() (int, string) {
			if usesOwnService(call.Args) {
				return callBuilt(t, call.Args)
			}
			return callAlone(t.Context(), call.Args, o.results)
		})
		o.made[call.Command] = made
	}
	o.mu.Unlock()
	return made()
}

// check returns what is wrong with a claim: nothing shows it, or something does not show what it is to show.
// Servers of services are not asked.
func (o *outcomes) check(t *testing.T, c *claims.Claim) (wrong []error) {
	wrong = c.Check()
	for _, call := range c.Calls {
		if call.Needs != "" {
			continue
		}
		if _, err := call.Shows(o.of(t, &call)); err != nil {
			wrong = append(wrong, err)
		}
	}
	for _, cell := range c.Held {
		if err := checkHeld(cell); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// checkHeld returns an error unless the test of a cell is in the package that the cell names. If it is about
// a changed rule, there must be a story in which a form with that rule ends so; the test has it played.
func checkHeld(cell string) error {
	words := claims.Spans(cell)
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
	all, err := claims.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := countClaims(text, all); err != nil {
		t.Error(err)
	}
	o := &outcomes{results: t.TempDir(), made: map[string]func() (int, string){}}
	for _, c := range soak.Few(all) {
		t.Run(c.ID, func(t *testing.T) {
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
	o := &outcomes{results: t.TempDir(), made: map[string]func() (int, string){}}
	for _, test := range []struct{ id, old, new, want string }{
		{"J3", "published 3 per entry (3): confirmed", "published 4 per entry (3): confirmed",
			`does not print the line "published 4 per entry`},
		{"J3", "published 3 per entry (3): confirmed", "published 3 per entry", "does not print the line"},
		{"J3", "| 0 |", "| 1 |", `ends with status 0, and not 1`},
		{"J9", "with 5 requests unserved", "with 3 requests unserved", "does not print the line"},
		{"T1", "VALID no two were inside together in 3 entries", "VIOLATED", `does not print the line "VIOLATED"`},
		{"T1", "`node 2 asks and sends request to server 3`<br>", "", ""}, // less is claimed
		{"T1", "`node 0 asks and sends request to server 3`", "`node 1 enters`", "or not in this order"},
		{"T1", "central/order.txt", "central/disorder.txt", "ends with status 64"},
		{"T9", "`broken: exclusion`", "`nothing is broken`", `it ends with "broken: exclusion", and not`},
		{"T9", "the clock falls back", "the clock stands still", `it ends with "", and not`},
		{"T9", "clock-held`: if", "cloak-held`: if", "no such file"},
		{"T8", "TestDetectorsChangeNothingBeside", "TestDetectorsChangeAll", "there is no TestDetectorsChangeAll"},
		{"T8", "./nodes/sim", "./nodes/mutex", "there is no TestDetectorsChangeNothingBeside in nodes/mutex"},
		{"L11", "`go test ./nodes/mutex -run TestAcknowledgementsCloseTheQueue`", "", "nothing shows"},
		{"T8", "go test", "go vet", "is no call of go test"},
		{"G4", "TestOneWaiterIsWoken", "TestAllAreWoken", "there is no TestAllAreWoken in services/"},
		{"G4", "cd services && ", "", "there is no TestOneWaiterIsWoken in etcd"},
		{"T8", "| yes |", "| no |", "is not shown, yet has"},
		{"T8", "| yes |", "| almost |", "is neither shown"},
		{"T8", "| yes |", "| in part |", "is neither shown"},
	} {
		mutated := changeClaim(t, text, test.id, test.old, test.new)
		all, err := claims.Read(mutated)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(all, func(c *claims.Claim) bool { return c.ID == test.id })
		wrong := fmt.Sprint(o.check(t, all[at]))
		if test.want == "" && wrong != "[]" || !strings.Contains(wrong, test.want) {
			t.Errorf("%s with %q for %q: %s, want %q", test.id, test.new, test.old, wrong, test.want)
		}
	}
	for _, test := range []struct{ id, old, new, want string }{
		{"T8", "| yes |", "| no |", "the page does not say: Of 127 claims"},
		{"J1", "| J1 |", "| J2 |", "J1 has a row of what was seen, and none of what shows it"},
		{"J1", "| J1 |", "| J1 | all |", "it has 8 cells"},
		{"J3", "| 0 |", "| zero |", `"zero" is no exit status`},
		{"G20", "| G20 |", "| G19 |", "G20 has a row of what was seen"},
	} {
		mutated := changeClaim(t, text, test.id, test.old, test.new)
		all, err := claims.Read(mutated)
		if err == nil {
			err = countClaims(mutated, all)
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s with %q for %q: %v, want %q", test.id, test.new, test.old, err, test.want)
		}
	}
}

// changeClaim returns the page with something else in the rows of a claim.
func changeClaim(t *testing.T, text, id, old, other string) string {
	t.Helper()
	seen, rest, _ := strings.Cut(text, "\n## "+id[:1]+": ")
	first, rest, _ := strings.Cut(rest, "\n| claim | says |")
	before, rows, _ := strings.Cut(rest, "\n| "+id+" |")
	before = seen + "\n## " + id[:1] + ": " + first + "\n| claim | says |" + before
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
