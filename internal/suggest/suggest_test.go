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
