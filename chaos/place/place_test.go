package place

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text         string
		total, hosts int
		want         string
	}{
		{"", 5, 2, "h0: 0,2,4; h1: 1,3"},
		{"turns", 4, 3, "h0: 0,3; h1: 1; h2: 2"},
		{"blocks", 10, 4, "h0: 0-2; h1: 3-4; h2: 5-7; h3: 8-9"},
		{"blocks", 3, 3, "h0: 0; h1: 1; h2: 2"},
		{"0-3@a,4-7@b", 8, 2, "a: 0-3; b: 4-7"},
		{"4-7@b, 0-3@a", 8, 2, "b: 4-7; a: 0-3"},
		{"0-1,5@a,2-4@b", 6, 2, "a: 0-1,5; b: 2-4"},
		{"0@a,1@b,2@a", 3, 2, "a: 0,2; b: 1"},
		{"0-3@1,4-7@0", 8, 2, "h0: 4-7; h1: 0-3"},
		{"0@a,1@0,2@b", 3, 3, "h0: 1; a: 0; b: 2"},
		{"", 5, 0, ""},
	} {
		p, err := Parse(c.text, c.total, c.hosts)
		var words []string
		for i, h := range p.All() {
			words = append(words, fmt.Sprintf("%s: %v", h.Name, h.Nodes))
			for _, id := range h.Nodes {
				if p.HostOf(id) != i {
					t.Errorf("%q: node %d is on host %d and on %d", c.text, id, i, p.HostOf(id))
				}
			}
		}
		if got := strings.Join(words, "; "); err != nil || got != c.want || p.Hosts() != c.hosts ||
			p.None() != (c.hosts == 0) {
			t.Errorf("%q of %d nodes on %d hosts is %q, and not %q: %v", c.text, c.total, c.hosts, got, c.want, err)
		}
	}
	if none := (&Placement{}); none.HostOf(3) != 0 || none.Nodes(0) != nil {
		t.Error("on one machine there is another host")
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		text         string
		total, hosts int
		says         string
	}{
		{"", 4, 5, "5 hosts, and the run has 4 nodes: a host without a node would do nothing: take 4 at most"},
		{"", 4, -1, "a run has 1 or more"},
		{"blocks", 4, 0, "the run has no hosts: add --hosts"},
		{"block", 4, 2, "is not a placement: write turns, blocks or a list, as in 0-3@a"},
		{"0-1@a,2-3", 4, 2, "does not say where 2-3 is: end it with a host, as in 2-3@a"},
		{"0-1@a,2@b", 4, 2, "node 3 is on no host: say on which, as in 3@a"},
		{"0-2@a,2-3@b", 4, 2, "node 2 is placed twice"},
		{"0-4@a,5@b", 4, 2, "there is no node 4: they are 0 to 3"},
		{"0-1@a,2@b,3@c", 4, 2, "names more hosts than the run has, which is 2"},
		{"0-3@a", 4, 2, "no node is on host 1"},
		{"0-1@0,2-3@2", 4, 2, "there is no host 2: they are 0 to 1"},
		{"0-1@A,2-3@b", 4, 2, `"A" is not a host`},
		{"0-1@../x,2-3@b", 4, 2, `"../x" is not a host`},
		{"0-1@,2-3@b", 4, 2, `"" is not a host`},
		{"x@a,2-3@b", 4, 2, `before @a, "x" names no nodes`},
	} {
		if _, err := Parse(c.text, c.total, c.hosts); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q of %d nodes on %d hosts: %v, which does not say %q", c.text, c.total, c.hosts, err, c.says)
		}
	}
}

// A named host is assigned to that host, and the others take what is left.
func TestAssign(t *testing.T) {
	names := func(p *Placement) (all []string) {
		for _, h := range p.All() {
			all = append(all, h.Name)
		}
		return all
	}
	for text, want := range map[string]string{"": "x y z", "0@0,1@z,2@2": "x z y", "0@y,1@z,2@x": "y z x"} {
		p, err := Parse(text, 3, 3)
		if err != nil {
			t.Fatal(err)
		}
		before := names(&p)
		on, err := p.Assign([]string{"x", "y", "z", "extra"})
		if got := strings.Join(names(&on), " "); err != nil || got != want {
			t.Errorf("%q is on %s, and not on %s: %v", text, got, want, err)
		}
		if !slices.Equal(names(&p), before) || !slices.Equal(on.hostOf, p.hostOf) {
			t.Errorf("%q: assigning hosts moved nodes", text)
		}
	}
	for text, says := range map[string]string{"0@a,1@b": "there is no host a: there are x, b"} {
		p, _ := Parse(text, 2, 2)
		if _, err := p.Assign([]string{"x", "b"}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, which does not say %q", text, err, says)
		}
	}
	p, _ := Parse("", 5, 5)
	for says, there := range map[string][]string{"the run takes 5 hosts: there are x, y": {"x", "y"},
		"none are available": nil} {
		if _, err := p.Assign(there); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, which does not say %q", err, says)
		}
	}
}
