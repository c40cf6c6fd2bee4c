package main

import (
	"fmt"
	"strings"
	"testing"
)

// A table in a pipe has 100 columns at most: some are left out, and then cells take several lines.
func TestFitted(t *testing.T) {
	var b strings.Builder
	w := newFitted(&b, "RUN", "NOTE")
	long := strings.TrimSpace(strings.Repeat("word ", 30))
	fmt.Fprintf(w, "NAME\tSAYS\tNOTE\tRUN\na\t%s\tb\t%s\nno cells\n", long, strings.Repeat("r", 40))
	fmt.Fprintf(w, "c\td\t\t%s\n", strings.Repeat("f", 30))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "NAME  SAYS\n" +
		"a     " + strings.TrimSpace(strings.Repeat("word ", 19)) + "\n" +
		"      " + strings.TrimSpace(strings.Repeat("word ", 11)) + "\n" +
		"no cells\n" +
		"c     d\n"
	if b.String() != want {
		t.Errorf("it is\n%s, not\n%s", b.String(), want)
	}
	if got := strings.Join(w.left, ", "); got != "RUN, NOTE" {
		t.Errorf("left out: %s", got)
	}
}

func TestFittedIsAsWideAsItMustBe(t *testing.T) {
	var b strings.Builder
	w := newFitted(&b, "RUN")
	fmt.Fprintf(w, "NAME\tRUN\nlonger\tr\n")
	w.Flush()
	fmt.Fprintf(w, "x\ty\n")
	w.Flush()
	if want := "NAME    RUN\nlonger  r\nx  y\n"; b.String() != want || w.left != nil {
		t.Errorf("it is %q, without %q", b.String(), w.left)
	}
}
