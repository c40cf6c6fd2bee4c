package terminal

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable returns text with its control characters as \x1b or \u202e, except ends of lines and tabs. Then
// text from outside, such as the output of a program, can only add characters to a terminal.
func Printable(text string) string {
	if !strings.ContainsFunc(text, unprintable) {
		return text
	}
	out := strings.Builder{}
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		out.WriteString(printable(r, text[:size]))
		text = text[size:]
	}
	return out.String()
}

// unprintable reports whether a character, or a byte outside any character, is not printed as it stands.
func unprintable(r rune) bool {
	return r == utf8.RuneError || r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

// printable returns how a character is printed. Escapes from \u007f on are also valid JSON, which does not
// escape such characters.
func printable(r rune, text string) string {
	switch {
	case r == utf8.RuneError && len(text) == 1:
		return fmt.Sprintf(`\x%02x`, text[0])
	case r == utf8.RuneError || !unprintable(r):
		return text
	case r < 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Plain is a writer of text, which it makes Printable. The colours of a Palette pass to a terminal.
type Plain struct {
	To io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of a character or colour that the next Write may complete
}

// Unwrap returns the underlying writer.
func (p *Plain) Unwrap() io.Writer { return p.To }

// Raw returns the writer below a Plain, to which control sequences that move the cursor can be written.
func Raw(w io.Writer) io.Writer {
	if p, is := w.(*Plain); is {
		return p.To
	}
	return w
}

// Write implements io.Writer.
func (p *Plain) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rest == nil && !bytes.ContainsFunc(b, unprintable) {
		return p.To.Write(b)
	}
	text, colours := append(p.rest, b...), Is(p.To)
	out := make([]byte, 0, len(text))
	for p.rest = nil; len(text) > 0; {
		if begins, whole := colour(text); colours && whole > 0 {
			out, text = append(out, text[:whole]...), text[whole:]
			continue
		} else if colours && begins || !utf8.FullRune(text) {
			p.rest = slices.Clone(text)
			break
		}
		r, size := utf8.DecodeRune(text)
		out, text = append(out, printable(r, string(text[:size]))...), text[size:]
	}
	if _, err := p.To.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes an incomplete character or colour that waits for its end.
func (p *Plain) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	io.WriteString(p.To, Printable(string(p.rest)))
	p.rest = nil
}

// colour returns the length of the whole colour at the start of a text, or 0, and whether the text is the
// beginning of a colour.
func colour(text []byte) (begins bool, whole int) {
	for _, c := range []string{Bold, Green, Red, Yellow, "0"} {
		code := "\x1b[" + c + "m"
		if bytes.HasPrefix(text, []byte(code)) {
			return false, len(code)
		}
		begins = begins || len(text) < len(code) && strings.HasPrefix(code, string(text))
	}
	return begins, 0
}
