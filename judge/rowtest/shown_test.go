package rowtest

import (
	"slices"
	"testing"

	"turnstile/nodes"
)

// A value that no statement tells apart is found, and so is an option of any other form with fewer than two.
func TestValuesWithoutStatementsAreFound(t *testing.T) {
	words := nodes.Option{Values: []string{"a", "b", "c"}, Default: "a"}
	length := nodes.Option{Default: "1s"}
	for _, test := range []struct {
		option nodes.Option
		shows  []nodes.Shown
		want   []string
	}{
		{words, nil, []string{"a", "b", "c"}},
		{words, []nodes.Shown{{Value: "b", Than: "a"}}, []string{"c"}},
		{words, []nodes.Shown{{Value: "b", Than: "a"}, {Value: "c"}}, nil},
		{length, []nodes.Shown{{Value: "2s"}}, []string{"with a second value"}},
		{length, []nodes.Shown{{Value: "2s", Than: "1s"}}, nil},
	} {
		test.option.Shows = test.shows
		if got := untold(&test.option); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %q, want %q", test.shows, got, test.want)
		}
	}
}
