// Package terminal knows the terminal and the working directory of the user: how wide and colourful output
// may be, and how this program was called.
package terminal

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"turnstile/internal/english"
)

// Is reports whether w writes to a terminal that can do more than print lines.
func Is(w io.Writer) bool {
	fd, is := descriptor(w)
	return is && term.IsTerminal(fd) && os.Getenv("TERM") != "dumb"
}

// Columns returns how wide a table on w may be: the width of the terminal, or else 100 columns.
func Columns(w io.Writer) int {
	const usual = 100
	if Is(w) {
		fd, _ := descriptor(w)
		if columns, _, err := term.GetSize(fd); err == nil && columns > 0 {
			return columns
		}
	}
	return usual
}

// Fold returns a text whose lines are no wider than the terminal that w writes to, unless a word is; lines
// that continue another begin with indent. If w is no terminal, it returns the text as it is.
func Fold(w io.Writer, text, indent string) string {
	if !Is(w) {
		return text
	}
	return fold(text, indent, Columns(w))
}

// fold is Fold for a terminal with some columns.
func fold(text, indent string, columns int) string {
	var folded []string
	for line := range strings.SplitSeq(text, "\n") {
		parts := []string{line}
		if utf8.RuneCountInString(line) > columns {
			parts = english.Wrap(line, columns-len(indent))
		}
		folded = append(folded, strings.Join(parts, "\n"+indent))
	}
	return strings.Join(folded, "\n")
}

// Width returns how wide a picture on w may be: the width of the terminal within 40 to 160, or else 80
// columns.
func Width(w io.Writer) int {
	const usual, narrowest, widest = 80, 40, 160
	if !Is(w) {
		return usual
	}
	fd, _ := descriptor(w)
	columns, _, err := term.GetSize(fd)
	if err != nil || columns <= 0 {
		return usual
	}
	return min(max(columns, narrowest), widest)
}

// Asks reports whether r reads from a terminal, so the user can be asked.
func Asks(r io.Reader) bool {
	file, is := r.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}

// descriptor returns the descriptor of the file that w, or the writer that it unwraps, writes to.
func descriptor(w io.Writer) (fd int, is bool) {
	if wrapper, wraps := w.(interface{ Unwrap() io.Writer }); wraps {
		w = wrapper.Unwrap()
	}
	file, is := w.(*os.File)
	if !is {
		return 0, false
	}
	return int(file.Fd()), true
}

// A Palette colours text, if it goes to a terminal.
type Palette struct{ on bool }

// PaletteFor returns the palette for w: colours for a terminal, unless NO_COLOR is set.
func PaletteFor(w io.Writer) Palette {
	return Palette{Is(w) && os.Getenv("NO_COLOR") == ""}
}

// The colours, as parameters of ANSI escape codes.
const (
	Bold   = "1"
	Green  = "1;32"
	Red    = "1;31"
	Yellow = "1;33"
)

// Paint returns text in a colour.
func (p Palette) Paint(color, text string) string {
	if !p.on {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// PrintJSON prints v as one indented JSON document.
func PrintJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}
