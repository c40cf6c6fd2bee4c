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
