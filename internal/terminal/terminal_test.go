package terminal

import (
	"bytes"
	"testing"
)

func TestColours(t *testing.T) {
	if got := (Palette{on: true}).Paint(Green, "x"); got != "\x1b[1;32mx\x1b[0m" {
		t.Errorf("painted: %q", got)
	}
	if PaletteFor(&bytes.Buffer{}).on {
		t.Error("a buffer is no terminal, and gets colours")
	}
}

// Text for a terminal is folded at its width, and other text is as it was.
func TestFold(t *testing.T) {
	const text = "VALID  one two three four\n    five, as an indented line"
	if got := Fold(&bytes.Buffer{}, text, "  "); got != text {
		t.Errorf("not for a terminal: %q", got)
	}
	const want = "VALID  one two\n  three four\n    five, as an\n  indented line"
	if got := fold(text, "  ", 18); got != want {
		t.Errorf("folded: %q, not %q", got, want)
	}
}
