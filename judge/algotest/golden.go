package algotest

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
	"turnstile/nodes/replay/story"
)

// Rewrite is the flag -rewrite: tests write their results into the files with the expected results.
var Rewrite = flag.Bool("rewrite", false, "write what the schedules in testdata tell into their files")

// A Form plays the stories of an algorithm: the algorithm itself, a sound variant of it, or a mutant.
type Form struct {
	*algorithm.Algorithm
	Title string // its name in stories: the changed rule of a mutant; empty for the algorithm itself
	Sound bool   // it breaks no promise inside its model
	// Fails names checks, one of which a mutant must fail in each of its stories. If Inside is set, it must fail
	// inside its model. Empty: it need not fail.
	Fails  string
	Inside bool
}

// Goldens plays every story in testdata with its forms, and compares the result with the file. The parameter
// form returns the form of an algorithm with a title; the parameter also, if not nil, tests each form.
func Goldens(t *testing.T, least int, find func(string) (*algorithm.Algorithm, error),
	form func(algo *algorithm.Algorithm, title string) (Form, error), also func(*testing.T, *replay.Schedule,
		Form)) {
	paths, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(paths) < least {
		t.Fatalf("%d schedules, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "testdata/"), ".txt")
		t.Run(name, func(t *testing.T) {
			s, err := story.Read(path, find)
			if err != nil {
				t.Fatal(err)
			}
			told, err := s.Tell(func(title string) (*replay.Played, string, nodes.Assumption, error) {
				f, err := form(s.Schedule.Spec, title)
				if err != nil {
					return nil, "", 0, err
				}
				r, err := s.Play(f.Algorithm)
				if err != nil {
					return nil, "", 0, err
				}
				v := check.Judge(r.History, check.SettingOfReplay(r.Stack))
				f.judge(t, &v)
				if also != nil {
					also(t, s.Schedule, f)
				}
				failed, broken := v.Failed()
				return r, failed, broken, nil
			})
			switch {
			case err != nil:
				t.Fatal(err)
			case told == s.Told && told != "":
			case *Rewrite:
				if err := s.Rewrite(told); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("the story has changed; with -rewrite, this test writes it into the file:\n%s",
					cmp.Diff(s.Told, told))
			}
		})
	}
}

// judge demands that a mutant fails a check in Fails, and that a sound form fails no check inside its model.
func (f *Form) judge(t *testing.T, v *check.Verdict) {
	t.Helper()
	switch failed, broken := v.Failed(); {
	case f.Sound && failed != "" && broken == 0:
		t.Errorf("%s is broken: %s", f.Name, v.Reason)
	case f.Fails != "" && (failed == "" || f.Inside && broken != 0 || !strings.Contains(f.Fails, failed)):
		t.Errorf("the mutant in which %s fails %q, and not %s: %s", f.Title, failed, f.Fails, v.Reason)
	}
}
