package terminal

import (
	"io"
	"runtime"
	"strings"
	"testing"
)

// Control characters are printed as escapes, however the text is cut into writes. Files get no colours.
func TestPlainPrintsNoControlCharacters(t *testing.T) {
	const text = "a\tb\n\x1b[2J\x1b[1;31mred\x1b[0m \u202egnp.exe \x7f \x9b é 漢 \U000e0041 \ufffd\r"
	const want = "a\tb\n" + `\x1b[2J\x1b[1;31mred\x1b[0m \u202egnp.exe \u007f \x9b é 漢 \udb40\udc41 ` +
		"\ufffd" + `\x0d`
	if got := Printable(text); got != want {
		t.Errorf("it is printed as %q, not as %q", got, want)
	}
	for size := 1; size <= len(text); size++ {
		out := strings.Builder{}
		p := &Plain{To: &out}
		for rest := text; rest != ""; {
			n, err := p.Write([]byte(rest[:min(size, len(rest))]))
			if rest = rest[n:]; err != nil {
				t.Fatal(err)
			}
		}
		if p.Flush(); out.String() != want {
			t.Errorf("in pieces of %d bytes it is printed as %q, not as %q", size, out.String(), want)
		}
	}
	for text, whole := range map[string]int{"\x1b[1;31mx": 7, "\x1b[0m": 4, "\x1b[8m": 0, "\x1b[2J": 0} {
		if begins, got := colour([]byte(text)); got != whole || begins {
			t.Errorf("of %q, %d bytes are a colour, and it begins one: %v; not %d", text, got, begins, whole)
		}
	}
	if begins, _ := colour([]byte("\x1b[1")); !begins {
		t.Error("the beginning of a colour is taken for text")
	}
}

// A long text is not copied for each of its characters.
func TestPlainTakesLittleForALongText(t *testing.T) {
	text := []byte("\x07" + strings.Repeat("x", 100_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	(&Plain{To: io.Discard}).Write(text)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("%d bytes were allocated to write %d", took, len(text))
	}
}
