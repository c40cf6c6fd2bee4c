package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What two sides have to agree in: whose work it is, and how much of it. Other columns, such as the algorithm
// or the latency, are what is compared if they differ.
var alike = []string{versionColumn, machineColumn, "kind", "nodes", "hosts", "units", "resources", "zipf",
	"load", "initiators", "campaign_every_s", "work", "take", "whole", "hold", "think", "rate_per_s", "arrivals",
	"receive"}

// Sides compares the experiments of b with those of a. Columns in which all trials of a have one value and
// all of b another are what is compared; experiments that agree in all others are pairs.
func Sides(a, b Side, r Request) (*Comparison, error) {
	if err := r.checkColumns(a, b); err != nil {
		return nil, err
	}
	ofA, err := a.choose(r.Where)
	if err != nil {
		return nil, err
	}
	ofB, err := b.choose(r.Where)
	if err != nil {
		return nil, err
	}
	columns := columnsOf(ofA, ofB)
	left, right := experiments(ofA, columns), experiments(ofB, columns)
	c := &Comparison{Sides: []string{a.Name, b.Name}}
	var same, refused []int
	for i, column := range columns {
		was, is := valuesOf(left, i), valuesOf(right, i)
		switch {
		case len(was) > 1 || len(is) > 1:
			same = append(same, i)
		case was[0] == is[0]:
			c.Agree = append(c.Agree, Cell{Column: column, Text: was[0]})
		default:
			c.Differ = append(c.Differ, Difference{column, []string{shown(was[0]), shown(is[0])}})
			if slices.Contains(alike, column) {
				refused = append(refused, i)
			}
		}
	}
	if len(refused) > 0 && !r.Unlike {
		return nil, errors.New(apart(columns, refused, left, right) + "\n--unlike compares them all the same")
	}
	pairs, err := c.pairs(a, b, columns, same, left, right)
	if err != nil {
		return nil, err
	}
	c.compare(pairs, r.Metrics)
	return c, nil
}

// apart says in which columns two sides differ that have to agree in them.
func apart(columns []string, differ []int, left, right []*experiment) string {
	lines := []string{"the two differ in what has to be the same:"}
	for _, i := range differ {
		lines = append(lines, fmt.Sprintf("  %s: %s and %s", columns[i], listed(valuesOf(left, i)),
			listed(valuesOf(right, i))))
	}
	return strings.Join(lines, "\n")
}

// pairs finds the pairs of experiments that agree in the columns same, in which the experiments of a side
// differ. These are what the pairs are called by.
func (c *Comparison) pairs(a, b Side, columns []string, same []int, left, right []*experiment) (pairs []pair,
	err error) {
	key := func(e *experiment) string {
		var values []string
		for _, i := range same {
			values = append(values, e.values[i])
		}
		return strings.Join(values, "\x00")
	}
	label := func(e *experiment) string {
		var words []string
		for _, i := range same {
			if e.values[i] != "" || !ofAlgorithm(columns[i]) {
				words = append(words, columns[i]+"="+shown(e.values[i]))
			}
		}
		return strings.Join(words, ", ")
	}
	partners := map[string]*experiment{}
	for _, e := range right {
		partners[key(e)] = e
	}
	for _, e := range left {
		where := label(e)
		other := partners[key(e)]
		if other == nil {
			c.Alone = append(c.Alone, a.Name+": "+where)
			continue
		}
		delete(partners, key(e))
		p := pair{where, groupOf(a.Name, []*experiment{e}), groupOf(b.Name, []*experiment{other})}
		p.baseline.Where, p.other.Where = where, where
		pairs = append(pairs, p)
	}
	for _, e := range right {
		if partners[key(e)] != nil {
			c.Alone = append(c.Alone, b.Name+": "+label(e))
		}
	}
	if len(pairs) > 0 {
		return pairs, nil
	}
	differ := slices.DeleteFunc(same, func(i int) bool {
		return slices.Equal(slices.Sorted(slices.Values(valuesOf(left, i))),
			slices.Sorted(slices.Values(valuesOf(right, i))))
	})
	return nil, fmt.Errorf("no experiment of %s agrees with one of %s: %s\nchoose one of each by --where, or "+
		"compare the trials of one set with --by", a.Name, b.Name, apart(columns, differ, left, right))
}
