package suggest

import "testing"

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"ricard", "ricart", 1}, {"kitten", "sitting", 3}} {
		if Distance(test.a, test.b) != test.want || Distance(test.b, test.a) != test.want {
			t.Errorf("%s and %s are not %d apart", test.a, test.b, test.want)
		}
	}
}

func TestHint(t *testing.T) {
	known := []string{"request", "release"}
	for word, want := range map[string]string{
		"reqest": ": did you mean request?", "x": "; there are: request, release",
	} {
		if got := Hint(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestHintAtAList(t *testing.T) {
	long := List{By: "list", Aliases: map[string][]string{"bakery": {"lamport-74"}}, Names: []string{"bully",
		"fast-bully", "ring", "raft", "omega", "lamport", "bakery", "king", "peterson", "bully-majority", "central",
		"token", "grid"}}
	short := List{Names: []string{"heartbeat", "probe"}}
	for _, test := range []struct {
		list       List
		word, want string
	}{
		{long, "bullly", ": did you mean bully, fast-bully or bully-majority? See list for all 13"},
		{long, "Lamport74", ": did you mean bakery, lamport or raft? See list for all 13"},
		{long, "centrall", ": did you mean central, raft or peterson? See list for all 13"},
		{long, "zookeeper", "; the nearest are token, omega and bakery: see list for all 13"},
		{short, "hartbeat", ": did you mean heartbeat? There are: heartbeat, probe"},
		{short, "x", "; there are: heartbeat, probe"},
		{short, "", "; there are: heartbeat, probe"},
	} {
		if got := test.list.Hint(test.word); got != test.want {
			t.Errorf("%q: %q, want %q", test.word, got, test.want)
		}
	}
}

func TestUnit(t *testing.T) {
	for text, want := range map[string]string{
		"5": "5 has no unit: did you mean 5ms?", " 0.5": "0.5 has no unit: did you mean 0.5ms?",
	} {
		if got := Unit(text, "ms"); got == nil || got.Error() != want {
			t.Errorf("%q: %v, want %q", text, got, want)
		}
	}
	for _, text := range []string{"5ms", "soon", "", "-", "5 s", "1,5"} {
		if got := Unit(text, "ms"); got != nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
