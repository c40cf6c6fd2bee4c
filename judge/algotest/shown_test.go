package algotest

import (
	"slices"
	"testing"

	"turnstile/nodes"
)

// The test finds a value that no figure tells apart, and an option without listed values that has fewer than
// two figures.
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
