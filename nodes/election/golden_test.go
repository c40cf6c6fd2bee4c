package election

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/replay"
	"turnstile/nodes/replay/story"
	"turnstile/nodes/row"
)

var rewrite = flag.Bool("rewrite", false, "write what the schedules in testdata tell into their files")

// A form plays the stories of a row beside it: a mutant, or a sound variant.
type form struct {
	row   *row.Row
	title string // of a mutant, the rule that is changed
	spec  *row.Row
	sound bool
	fails string // the check that a mutant fails in all its stories; empty: it only does something else
}

// forms are all of them.
func forms() []form { return slices.Concat(changForms(), bullyForms()) }

// A golden is a story of a row, which simulate --replay plays too.
type golden struct{ *story.Story }

// form returns the form of a title; the empty one is the row's.
func (g *golden) form(title string) (form, error) {
	row := g.Schedule.Spec
	if title == "" {
		return form{row: row, spec: row, sound: row.Flaw == nil}, nil
	}
	for _, f := range forms() {
		if f.row == row && f.title == title {
			return f, nil
		}
	}
	return form{}, fmt.Errorf("%s has no form %q: list it in forms", row.Name, title)
}

// judge wants mutants to fail as they say they do, and what is sound not to, in its model.
func (f *form) judge(t *testing.T, v check.Verdict) {
	t.Helper()
	switch failed, broken := v.Failed(); {
	case f.sound && failed != "" && broken == 0:
		t.Errorf("%s is broken: %s", f.spec.Name, v.Reason)
	case f.fails != "" && failed != f.fails:
		t.Errorf("the mutant in which %s breaks %q, and not %s: %s", f.title, failed, f.fails, v.Reason)
	}
}

// tell returns what all forms tell.
func (g *golden) tell(t *testing.T) string {
	told, err := g.Tell(func(title string) (*replay.Played, string, nodes.Assumption, error) {
		f, err := g.form(title)
		if err != nil {
			return nil, "", 0, err
		}
		r, err := g.Play(f.spec)
		if err != nil {
			return nil, "", 0, err
		}
		v := check.Judge(r.History, check.SettingOfReplay(r.Stack))
		f.judge(t, v)
		failed, broken := v.Failed()
		return r, failed, broken, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// Each schedule tells what stands below it. A test with -rewrite writes that anew.
func TestGoldensOfElections(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d schedules, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "testdata/"), ".txt")
		t.Run(name, func(t *testing.T) {
			read, err := story.Read(path, Find)
			if err != nil {
				t.Fatal(err)
			}
			g := &golden{read}
			told := g.tell(t)
			switch {
			case told == g.Told && told != "":
			case *rewrite:
				if err := g.Rewrite(told); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("it tells something else; with -rewrite, this test writes it into the file:\n%s",
					cmp.Diff(g.Told, told))
			}
		})
	}
}
