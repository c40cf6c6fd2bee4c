package ddmin

import (
	"slices"
	"testing"
)

func TestReduce(t *testing.T) {
	all := make([]int, 40)
	for i := range all {
		all[i] = i
	}
	has := func(some ...int) func([]int) bool {
		return func(items []int) bool {
			for _, s := range some {
				if !slices.Contains(items, s) {
					return false
				}
			}
			return true
		}
	}
	// Items 20 and 21 can be left out together, but neither of the two alone.
	pairs := func(items []int) bool {
		return slices.Contains(items, 7) && slices.Contains(items, 20) == slices.Contains(items, 21)
	}
	for _, test := range []struct {
		name       string
		fails      func([]int) bool
		neighbours int
		want       []int
	}{
		{"one", has(17), 1, []int{17}},
		{"three, in their order", has(39, 0, 20), 1, []int{0, 20, 39}},
		{"none is needed", has(), 1, nil},
		{"all are needed", has(all...), 2, all},
		{"pairs", pairs, 2, []int{7}},
	} {
		if got := Reduce(all, test.neighbours, test.fails); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, not %v", test.name, got, test.want)
		}
	}
	if got := Reduce(nil, 1, has()); got != nil {
		t.Errorf("of nothing remains %v", got)
	}
}
