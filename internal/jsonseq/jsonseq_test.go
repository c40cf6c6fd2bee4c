package jsonseq

import (
	"slices"
	"strings"
	"testing"
)

type note struct {
	Ready bool `json:"ready"`
	Round int  `json:"round"`
}

// Values are found among any other text of the stream, in pieces of any size, and other text is kept.
func TestSift(t *testing.T) {
	const all = "a machine prints\x1e{\"ready\":true}\nthis \x1e\x1e{\"round\":2}\n and\n" +
		"\x1e{\"round\":\npanic: 1\n"
	const want = "a machine printsthis \x1e and\n\x1e{\"round\":\npanic: 1\n"
	for length := 1; length <= len(all); length++ {
		var got []note
		r := Reader[note]{On: func(n note) { got = append(got, n) }}
		rest := ""
		for piece := range slices.Chunk([]byte(all), length) {
			rest += string(r.Sift(piece))
		}
		if len(got) != 2 || !got[0].Ready || got[1].Round != 2 || rest != want {
			t.Errorf("by %d: %+v and %q", length, got, rest)
		}
	}
}

func TestEncode(t *testing.T) {
	want := note{Round: 7}
	b, err := Encode(want)
	if err != nil || strings.Count(string(b), "\n") != 1 {
		t.Fatalf("%q, %v", b, err)
	}
	var got []note
	r := Reader[note]{On: func(n note) { got = append(got, n) }}
	if rest := r.Sift(b); len(rest) > 0 || len(got) != 1 || got[0] != want {
		t.Errorf("%+v and %q", got, rest)
	}
	if _, err := Encode(func() {}); err == nil {
		t.Error("a function is encoded")
	}
}
