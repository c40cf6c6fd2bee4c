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
//	broken maekawa: a node does not ask itself   # a row, a variant or, after the colon, a mutant
//	sound maekawa                                # nothing fails in the steps that apply to it
//	sound lamport in order                       # nor on links that keep the order
//	sound token-ring if at all                   # nor does it here, but afterwards it may be stuck
//	n 4                                          # and other parts of Config
//	fails exclusion                              # in the last step; or progress, starvation or nothing
//	search 400 duplicate                         # seeds, and faults, that find it without the script
type scripted struct {
	broken *nodes.Spec
	sound  []soundForm
	config nodes.Config
	fails  error
	seeds  uint64
	search options
	steps  string
}

// A soundForm does not fail where the broken one does.
type soundForm struct {
	spec    *nodes.Spec
	inOrder bool
	stops   bool // the script takes something from it that it cannot do without
}

// failures is what a script can end in.
var failures = map[string]error{"exclusion": errExclusion, "progress": errStuck, "starvation": errStarved,
	"nothing": nil}

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
			if s.broken != nil && (s.fails == nil || s.seeds == 0) || len(s.sound) == 0 {
				err = errors.Join(err, errors.New("a broken form fails and is searched for, and there is a sound one"))
			}
			s.steps = strings.Join(lines[i:], "")
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
		var f soundForm
		rest, f.stops = strings.CutSuffix(rest, " if at all")
		rest, f.inOrder = strings.CutSuffix(rest, " in order")
		f.spec, err = find(rest)
		s.sound = append(s.sound, f)
	case "n":
		s.config.N, err = strconv.Atoi(rest)
	case "quorums", "tree":
		s.config = s.config.With(words[0], rest)
	case "fails":
		if s.fails, known = failures[rest]; !known {
			return true, fmt.Errorf("nothing fails in %s", rest)
		}
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

// find returns the row or the variant of that name.
func find(name string) (*nodes.Spec, error) {
	return nodes.Find(slices.Concat(variants, Table), name)
}

// findBroken returns a row or a variant, or the mutant of it that is named after a colon.
func findBroken(name string) (*nodes.Spec, error) {
	of, rule, isMutant := strings.Cut(name, ": ")
	if !isMutant {
		return find(name)
	}
	for _, m := range mutants() {
		if m.sound.Name == of && m.rule == rule {
			return &m.spec, nil
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
			for _, f := range s.sound {
				s.wantSafe(t, f)
				s.wantNotFound(t, f)
			}
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

// wantSafe wants a sound form to come well through those of the steps that apply to it, and to be live after
// them.
func (s *scripted) wantSafe(t *testing.T, f soundForm) {
	k := newCluster(f.spec, s.config, options{})
	if err := k.start(); err != nil {
		t.Fatal(err)
	}
	for words := range steps(s.steps) {
		if !k.applies(words, f.inOrder) {
			continue
		}
		err := k.do(words)
		if stopped := f.stops && words[0] == "rest" && errors.Is(err, errStuck); err != nil && !stopped {
			t.Fatalf("%s, of %s: %v", strings.Join(words, " "), f.spec.Name, err)
		}
	}
	if err := k.rest(); err != nil && !(f.stops && errors.Is(err, errStuck)) {
		t.Errorf("%s, after the script: %v", f.spec.Name, err)
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
	case "timeout":
		return len(k.timers(nodes.SetOf(numbers(words)...))) > 0
	}
	return true
}

// wantFound wants a search without the script to come upon the same failure.
func (s *scripted) wantFound(t *testing.T) {
	seed, found := s.find(s.broken, s.search, s.seeds)
	if !found {
		t.Fatalf("%d seeds do not find that %v", s.seeds, s.fails)
	}
	t.Logf("found by seed %d", seed)
}

// wantNotFound wants that search to clear a sound form, in its model.
func (s *scripted) wantNotFound(t *testing.T, f soundForm) {
	opts := s.search
	opts.reorder = opts.reorder && !f.inOrder
	if seed, found := s.find(f.spec, opts, min(s.seeds, 400)); found {
		t.Errorf("%s: seed %d of the search finds that %v", f.spec.Name, seed, s.fails)
	}
}

// find looks for the failure.
func (s *scripted) find(in *nodes.Spec, opts options, seeds uint64) (seed uint64, found bool) {
	for seed := range seeds {
		opts.seed, opts.load = seed, loads[2+seed%2]
		if errors.Is(attempt(newCluster(in, s.config, opts)), s.fails) {
			return seed, true
		}
	}
	return 0, false
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
