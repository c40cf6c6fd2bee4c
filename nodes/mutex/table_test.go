package mutex

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"turnstile/nodes"
)

// seeds is how many runs a cluster of n is worth: small ones go wrong sooner and run faster.
func seeds(n int) uint64 {
	switch {
	case testing.Short():
		return 1
	case n <= 3:
		return 60
	case n <= 5:
		return 25
	}
	return 6
}

// TestRows holds every row to what it says of itself: whoever asks gets in, nobody gets in while
// another is inside, and the messages are as many as published. Where the row does not rest on order
// or on single delivery, its safety and its progress must do without.
func TestRows(t *testing.T) {
	for _, row := range Table {
		if row.Broken != "" {
			continue
		}
		for _, c := range configs(row) {
			t.Run(fmt.Sprint(row.Name, "/", c.N, c.Options), func(t *testing.T) {
				t.Parallel()
				for seed := range seeds(c.N) {
					for _, l := range loads {
						opts := options{seed: seed, load: l, entries: 12 + 2*c.N}
						runGood(t, row, c, opts)
						runFaulty(t, row, c, opts)
						runLossy(t, row, c, opts)
					}
				}
			})
		}
	}
}

// Options can be flags and columns, have a value if none is given, and mean one thing by one name.
func TestOptions(t *testing.T) {
	usage := map[string]string{}
	for _, row := range Table {
		for _, o := range row.Options {
			if !regexp.MustCompile("^[a-z]+(-[a-z]+)*$").MatchString(o.Name) {
				t.Errorf("%s: the option %q is no name in small letters and dashes", row.Name, o.Name)
			}
			if o.Values != nil && !slices.Contains(o.Values, o.Default) {
				t.Errorf("%s: %s does not take its default, %q", row.Name, o.Name, o.Default)
			}
			if known, ok := usage[o.Name]; ok && known != o.Usage {
				t.Errorf("%s: %s is %q, and %q of another row", row.Name, o.Name, o.Usage, known)
			}
			usage[o.Name] = o.Usage
		}
	}
}

// configs returns the clusters in which a row is tried.
func configs(row *nodes.Spec) []nodes.Config {
	var all []nodes.Config
	for _, n := range []int{1, 2, 3, 5, 9, 16} {
		all = append(all, nodes.Config{N: n})
		for _, o := range row.Options {
			for _, value := range o.Values {
				c := nodes.Config{N: n}.With(o.Name, value)
				if value != o.Default && row.Validate(c) == nil {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// runGood runs on a network without faults, where the counts must be right too.
func runGood(t *testing.T, row *nodes.Spec, c nodes.Config, opts options) {
	t.Helper()
	k := newCluster(row, c, opts)
	if err := k.run(); err != nil {
		t.Fatalf("%+v: %v", opts, err)
	}
	if want := opts.load.cost(row.Cost(c)); !want.Has(k.perEntry()) {
		t.Errorf("%+v: %v messages per entry, want %v: %v", opts, k.perEntry(), want, k.tally)
	}
	for _, id := range row.Identities {
		if !id.Holds(c, k.tally) {
			t.Errorf("%+v: not %s: %v", opts, id.Says, k.tally)
		}
	}
}

// runFaulty runs on the worst network that the row takes.
func runFaulty(t *testing.T, row *nodes.Spec, c nodes.Config, opts options) {
	t.Helper()
	needs := row.Safe | row.Live
	for _, worse := range []options{{reorder: true}, {duplicate: .2}, {reorder: true, duplicate: .2}} {
		if worse.reorder && needs&nodes.FIFO != 0 || worse.duplicate > 0 && needs&nodes.NoDuplication != 0 {
			continue
		}
		opts.reorder, opts.duplicate = worse.reorder, worse.duplicate
		if err := newCluster(row, c, opts).run(); err != nil {
			t.Fatalf("%+v: %v", opts, err)
		}
	}
}

// runLossy runs where messages are lost and nodes forget. That may stop the clients, but it must not
// let two in. (Losing a message never costs safety; forgetting does if the row says so, and then all
// it has to do is not to panic.)
func runLossy(t *testing.T, row *nodes.Spec, c nodes.Config, opts options) {
	t.Helper()
	opts.reorder = row.Safe&nodes.FIFO == 0
	opts.duplicate = .2
	opts.lose = .02
	if err := newCluster(row, c, opts).run(); errors.Is(err, errExclusion) {
		t.Fatalf("%+v: %v", opts, err)
	}
	opts.restart = .02
	err := newCluster(row, c, opts).run()
	if errors.Is(err, errExclusion) && row.Safe&nodes.NoAmnesia == 0 {
		t.Fatalf("%+v: %v", opts, err)
	}
}

// A row that is known to be broken must be seen to break, in what it says and in nothing else.
func TestBrokenRows(t *testing.T) {
	for _, row := range Table {
		if row.Broken == "" {
			continue
		}
		broken := brokenness[row.Broken]
		if broken.err == nil {
			t.Fatalf("%s is broken in an unknown way: %s", row.Name, row.Broken)
		}
		for _, n := range broken.sizes {
			if !fails(row, nodes.Config{N: n}, options{entries: 20}, broken.err) {
				t.Errorf("%s of %d nodes is not broken in %s", row.Name, n, row.Broken)
			}
		}
		for property, other := range brokenness {
			if property != row.Broken && fails(row, nodes.Config{N: 5}, options{entries: 20}, other.err) {
				t.Errorf("%s is broken in %s too", row.Name, property)
			}
		}
		opts := options{load: sequential, entries: 20} // it is not broken in every way
		runGood(t, row, nodes.Config{N: 5}, opts)
	}
}

// What a row says its safety rests on, it must rest on: alone, or beside faults that it says it stands.
func TestSafetyNeedsWhatItSays(t *testing.T) {
	for _, row := range Table {
		for need, opts := range map[nodes.Assumption]options{
			nodes.FIFO:          {reorder: true},
			nodes.NoDuplication: {duplicate: .2},
			nodes.NoAmnesia:     {restart: .02},
		} {
			opts.entries = 30
			beside := opts
			beside.reorder = beside.reorder || row.Safe&nodes.FIFO == 0
			if row.Safe&nodes.NoDuplication == 0 {
				beside.duplicate = .2
			}
			if row.Safe&need != 0 && !fails(row, nodes.Config{N: 3}, opts, errExclusion) &&
				!fails(row, nodes.Config{N: 3}, beside, errExclusion) {
				t.Errorf("%s names %q in Safe, and no run without it has two inside: take it out", row.Name, need)
			}
		}
	}
}

// brokenness is how a run shows that a row is broken in a property, and in clusters of which sizes it does.
var brokenness = map[string]struct {
	err   error
	sizes []int
}{
	"exclusion": {errExclusion, []int{2, 3, 9}},
	"progress":  {errStuck, []int{4, 5, 9}},
}

// fails reports whether some run ends with the error want.
func fails(row *nodes.Spec, c nodes.Config, opts options, want error) bool {
	for opts.seed = range 400 {
		opts.load = loads[opts.seed%4]
		if errors.Is(newCluster(row, c, opts).run(), want) {
			return true
		}
	}
	return false
}

func TestTableIsFilledIn(t *testing.T) {
	names := map[string]string{}
	for _, row := range Table {
		for _, name := range append([]string{row.Name}, row.Aliases...) {
			if other, taken := names[name]; taken {
				t.Errorf("%s and %s are both called %s", other, row.Name, name)
			}
			names[name] = row.Name
			if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(name) {
				t.Errorf("%q is no name: it is made of small letters, digits and -", name)
			}
		}
		if len(row.Aliases) == 0 || row.Family == "" || row.Source == "" || row.Cost == nil || row.Live == 0 {
			t.Errorf("%s lacks something", row.Name)
		}
		if !regexp.MustCompile(`^[A-Z][^.]+\.$`).MatchString(row.Summary) {
			t.Errorf("%s is summarized by %q, which is no sentence", row.Name, row.Summary)
		}
		kinds := map[string]bool{}
		for kind, codec := 0, row.Codec(); kind < codec.Kinds(); kind++ {
			if kinds[codec.Name(kind)] {
				t.Errorf("%s has two messages named %s", row.Name, codec.Name(kind))
			}
			kinds[codec.Name(kind)] = true
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"ricart-agrawala": "ricart-agrawala", "ricart": "ricart-agrawala", "RA": "ricart-agrawala",
		"ring": "token-ring", "sk": "suzuki-kasami", "suzuki": "suzuki-kasami", "Central": "central",
	} {
		row, err := Find(name)
		if err != nil || row.Name != want {
			t.Errorf("Find(%q) = %v, %v; want %s", name, row, err, want)
		}
	}
	var names []string
	for _, row := range Table {
		names = append(names, row.Name)
	}
	there := strings.Join(names, ", ")
	for name, want := range map[string]string{
		"ricard":  `unknown algorithm "ricard": did you mean "ricart-agrawala"? There are: ` + there,
		"lambort": `unknown algorithm "lambort": did you mean "lamport"? There are: ` + there,
		"paxos":   `unknown algorithm "paxos"; there are: ` + there,
		"":        `unknown algorithm ""; there are: ` + there,
	} {
		if _, err := Find(name); err == nil || err.Error() != want {
			t.Errorf("Find(%q): %v\nwant %s", name, err, want)
		}
	}
}
