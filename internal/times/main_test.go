package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Figures are measured again, each command once, and what stands around them stays.
func TestUpdate(t *testing.T) {
	t.Chdir(t.TempDir())
	const page = "It took <!-- took: true -->9 min 9 s<!-- end --> here.\n\n" +
		"| `x` | <!-- output: echo run >>runs; echo 42 -->7<!-- end --> |\n" +
		"| `y` | <!-- output: echo run >>runs; echo 42 --><!-- end --> |\n\n" +
		"<!-- output: printf 'a\\nb\\n' -->\n```\n$ make letters\nz\n```\n<!-- end -->\n\n" +
		"<!-- output: echo '| new |' -->\n| old |\n<!-- end -->\n" +
		"<!-- output: exit 1 -->untouched<!-- end -->\n"
	got, err := update(page, "", map[string]measured{})
	if err == nil || !strings.Contains(err.Error(), "exit 1") {
		t.Errorf("a command that fails: %v", err)
	}
	want := strings.NewReplacer("-->7<", "-->42<", "42 --><", "42 -->42<", "\nz\n", "\na\nb\n",
		"| old |", "| new |").Replace(page)
	took := regexp.MustCompile(`(<!-- took: true -->)[^<]*<`)
	if took.ReplaceAllString(got, "${1}9 min 9 s<") != want || strings.Contains(got, "9 min 9 s") {
		t.Errorf("the page is\n%s\nand not\n%s", got, want)
	}
	if runs, _ := os.ReadFile("runs"); string(runs) != "run\n" {
		t.Errorf("the command of two figures ran so often: %q", runs)
	}
	if got, err := update(page, "nothing", nil); got != page || err != nil {
		t.Errorf("with -only, %v:\n%s", err, got)
	}
}

func TestWritten(t *testing.T) {
	for d, want := range map[time.Duration]string{
		41 * time.Millisecond: "0.04 s", 1840 * time.Millisecond: "1.8 s", 12400 * time.Millisecond: "12 s",
		59700 * time.Millisecond: "1 min 0 s", 157 * time.Second: "2 min 37 s"} {
		if got := written(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

// Every time of minutes that the pages state was measured by make times.
func TestTimesOfPagesAreMeasured(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	stated := regexp.MustCompile(`[0-9]+ min( [0-9]+ s)?\b`)
	for _, path := range append(pages, "../../README.md") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if times := stated.FindAllString(figure.ReplaceAllString(string(b), ""), -1); len(times) > 0 {
			t.Errorf("%s states %q, and no comment says what they were measured by", path, times)
		}
	}
}
