package commands

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// noWords are words that comments, output and pages do not have. Somebody who reads them for the first time
// stumbles over the first ones; the field has words of its own for the others: found violated, valid, outside
// the model, expected.
var noWords = regexp.MustCompile(`(?i)\b(?:is none|are none|those that|whoever|as often as not|` +
	`convict(?:s|ed)?|acquit(?:s|ted)?|excuse[sd]?|guilty|innocent|rows? says?|none of nothing)\b`)

// Comments, texts and pages are in plain English, as far as a list of words tells.
func TestWordsAreOfTheField(t *testing.T) {
	list := exec.Command("git", "ls-files", "*.go", "docs/*.md", "*.md", "results/columns.yaml")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Skipf("SKIPPED: git does not list the files: %v", err)
	}
	read := 0
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "results/published/") ||
			path == "docs/coverage.md" { // which quotes what claims print
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			continue // it was removed, and git does not know
		}
		read++
		if filepath.Ext(path) == ".go" {
			text = wordsOfGo(text)
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if word := noWords.Find(line); word != nil {
				t.Errorf("%s:%d has %q: say it in other words", path, i+1, word)
			}
		}
	}
	if read < 500 {
		t.Errorf("%d files were read", read)
	}
}

// wordsOfGo returns a file of Go without what is neither a comment nor a text. Lines keep their numbers.
func wordsOfGo(text []byte) []byte {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	words := bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, bytes.ToValidUTF8(bytes.Map(func(r rune) rune {
		if r > 127 {
			return -1
		}
		return r
	}, text), nil))
	all := strings.Split(string(words), "\n")
	for {
		pos, tok, word := s.Scan()
		if tok == token.EOF {
			return []byte(strings.Join(all, "\n"))
		}
		if tok == token.COMMENT || tok == token.STRING {
			line := files.Position(pos).Line - 1
			for i, part := range strings.Split(word, "\n") {
				all[line+i] += " " + part
			}
		}
	}
}

// mostWords is how many words the pages have at most. It may fall, and not rise: what is new on them replaces
// something.
const mostWords = 27_000

// Pages that people write are short. Pages that the program or tests write do not count.
func TestWordsOfPages(t *testing.T) {
	paths, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for _, path := range append(paths, "../README.md", "../CONTRIBUTING.md") {
		switch filepath.Base(path) {
		case "columns.md", "coverage.md", "explored.md", "matrices.md":
			continue
		}
		words += len(strings.Fields(page(t, path)))
	}
	if words > mostWords || words < mostWords/2 {
		t.Errorf("the pages have %d words, and %d at most are to be enough", words, mostWords)
	}
	if lines := strings.Count(page(t, "../README.md"), "\n"); lines > 200 {
		t.Errorf("README.md has %d lines, more than 200", lines)
	}
}
