package nodes

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Group is a list of nodes.
type Group []ID

// ErrTwice says that a list of nodes names one twice.
var ErrTwice = errors.New("a node is named twice")

// ParseGroup reads a group: 3, 0-2 or 0-2,5.
func ParseGroup(text string) (g Group, err error) {
	fail := func() (Group, error) {
		return nil, fmt.Errorf("%q names no nodes: write 3, 0-2 or 0-2,5", text)
	}
	taken := map[ID]bool{}
	for _, word := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(word, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 20)
		if err != nil {
			return fail()
		}
		to, err := strconv.ParseUint(last, 10, 20)
		if err != nil || from > to {
			return fail()
		}
		for id := ID(from); id <= ID(to); id++ {
			if taken[id] {
				return nil, fmt.Errorf("%q: %w", text, ErrTwice)
			}
			taken[id] = true
			g = append(g, id)
		}
	}
	return g, nil
}

// Check returns an error if the group has a node that a run with total nodes, servers included, does not
// have.
func (g Group) Check(total int) error {
	for _, id := range g {
		if int(id) >= total {
			return fmt.Errorf("there is no node %d: they are 0 to %d", id, total-1)
		}
	}
	return nil
}

// String writes the group as ParseGroup reads it.
func (g Group) String() string {
	var words []string
	for i := 0; i < len(g); {
		j := i
		for j+1 < len(g) && g[j+1] == g[j]+1 {
			j++
		}
		word := fmt.Sprint(g[i])
		if j > i {
			word += fmt.Sprintf("-%d", g[j])
		}
		words, i = append(words, word), j+1
	}
	return strings.Join(words, ",")
}

// MostNamed bounds how many nodes texts for people list.
const MostNamed = 12

// Short writes the group for people: only the first few of many nodes.
func (g Group) Short() string {
	if len(g) <= MostNamed || len(g.String()) < 4*MostNamed {
		return g.String()
	}
	return fmt.Sprintf("%v,... (%d nodes)", g[:MostNamed/2], len(g))
}

// MarshalText writes the group as ParseGroup reads it.
func (g Group) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText sets g to the group that ParseGroup reads.
func (g *Group) UnmarshalText(text []byte) (err error) {
	*g, err = ParseGroup(string(text))
	return err
}
