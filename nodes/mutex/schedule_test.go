package mutex

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"turnstile/nodes"
)

// A scripted is a file of testdata/scripts: how an algorithm fails, step by step. Before the steps stand
//
//	broken maekawa: a node does not ask itself   # a row or, after the colon, a mutant: the last step fails
//	sound maekawa                                # nothing fails in the steps that apply to it
//	sound lamport in order                       # nor on links that keep the order
//	n 4                                          # and other parts of Config
//	fails exclusion                              # or progress, or nothing
//	search 400 duplicate                         # seeds, and faults, that find it without the script
type scripted struct {
	broken, sound *nodes.Spec[nodes.Mutex]
	inOrder       bool
	config        nodes.Config
	fails         error
	seeds         uint64
	search        options
	lossy         bool // somebody forgets, so that progress is not to be had
	steps         string
}

func readScript(path string) (*scripted, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &scripted{}
	lines := strings.SplitAfter(string(b), "\n")
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if known, err := s.head(words); !known || err != nil {
			s.steps = strings.Join(lines[i:], "")
			s.lossy = strings.Contains(s.steps, "restart")
			return s, err
		}
	}
	return nil, errors.New("there are no steps")
}

// head takes a line that stands before the steps, and reports whether it is one.
func (s *scripted) head(words []string) (known bool, err error) {
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "broken":
		s.broken, err = findBroken(rest)
	case "sound":
		rest, s.inOrder = strings.CutSuffix(rest, " in order")
		s.sound, err = Find(rest)
	case "n":
		s.config.N, err = strconv.Atoi(rest)
	case "quorums":
		s.config.Quorums = rest
	case "tree":
		s.config.Tree = rest
	case "fails":
		s.fails = brokenness[rest].err
	case "search":
		s.seeds, err = strconv.ParseUint(words[1], 10, 64)
		s.search = options{entries: 4 * s.config.N, reorder: slices.Contains(words, "reorder")}
		if slices.Contains(words, "duplicate") {
			s.search.duplicate = .2
		}
		if slices.Contains(words, "restart") {
			s.search.restart = .02
		}
	default:
		return false, nil
	}
	return true, err
}

// findBroken returns a row, or the mutant of a row that is named after a colon.
func findBroken(name string) (*nodes.Spec[nodes.Mutex], error) {
	of, rule, isMutant := strings.Cut(name, ": ")
	if !isMutant {
		return Find(name)
	}
	for _, m := range Mutants() {
		if m.Of == of && m.Name == rule {
			return &m.Spec, nil
		}
	}
	return nil, fmt.Errorf("%s has no mutant in which %s", of, rule)
}

func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d scripts, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			s, err := readScript(path)
			if err != nil {
				t.Fatal(err)
			}
			if s.broken != nil {
				s.wantFailure(t)
				s.wantFound(t)
			}
			s.wantSafe(t)
		})
	}
}

// wantFailure wants the broken form to fail as stated, and no sooner than in the last step.
func (s *scripted) wantFailure(t *testing.T) {
	k := newCluster(s.broken, s.config, options{})
	if err := k.start(); err != nil {
		t.Fatal(err)
	}
	all := slices.Collect(steps(s.steps))
	last := len(all) - 1
	for i, words := range all {
		err := k.do(words)
		switch {
		case i < last && err != nil:
			t.Fatalf("%s: %v", strings.Join(words, " "), err)
		case i == last && !errors.Is(err, s.fails):
			t.Errorf("%s: want that %v, got %v", strings.Join(words, " "), s.fails, err)
		}
	}
}

// wantSafe wants the sound form to come well through those of the steps that apply to it, and to be live
// after them.
func (s *scripted) wantSafe(t *testing.T) {
	k := newCluster(s.sound, s.config, options{})
	if err := k.start(); err != nil {
		t.Fatal(err)
	}
	for words := range steps(s.steps) {
		if !k.applies(words, s.inOrder) {
			continue
		}
		if err := k.do(words); err != nil {
			t.Fatalf("%s, of %s: %v", strings.Join(words, " "), s.sound.Name, err)
		}
	}
	if err := k.rest(); err != nil && !(s.lossy && errors.Is(err, errStuck)) {
		t.Errorf("%s, after the script: %v", s.sound.Name, err)
	}
}

// applies reports whether a step makes sense to the cluster as it stands. What is expected is expected of the
// broken form.
func (k *cluster) applies(words []string, inOrder bool) bool {
	if at := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, ">") }); at >= 0 {
		found := k.held(words[at], words[at+1])
		if found < 0 || words[0] == "none" {
			return false
		}
		p := k.flying[found]
		first := slices.IndexFunc(k.flying, func(q packet) bool { return q.from == p.from && q.to == p.to })
		return !inOrder || found == first
	}
	switch words[0] {
	case "in":
		return false
	case "req":
		return k.nodes[numbers(words)[0]].Client(0) == nodes.Idle
	case "exit":
		return k.nodes[numbers(words)[0]].Client(0) == nodes.Inside
	}
	return true
}

// wantFound wants a search without the script to come upon the same failure.
func (s *scripted) wantFound(t *testing.T) {
	for seed := range s.seeds {
		opts := s.search
		opts.seed, opts.load = seed, loads[2+seed%2]
		if errors.Is(attempt(newCluster(s.broken, s.config, opts)), s.fails) {
			t.Logf("found by seed %d", seed)
			return
		}
	}
	t.Errorf("%d seeds do not find that %v", s.seeds, s.fails)
}

// attempt runs a cluster. That a machine breaks its contract, as a broken one may, is an error too.
func attempt(k *cluster) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return k.run()
}
