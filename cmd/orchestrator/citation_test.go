package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"turnstile/nodes/catalog"
)

// privateNotes matches references that a user cannot follow: to notes that are not part of the project, and
// to the numbers of their faults and counterexamples.
var privateNotes = regexp.MustCompile(`ALGORITHMS\.md|\bF([1-9]|1[0-5])\b|\bCE-\d+|\bTB\d\b|` +
	`\bdossier|\bour notes\b`)

// textFiles are the endings of files that people read.
var textFiles = []string{".go", ".md", ".yaml", ".yml", ".txt", ".json", ".csv", ".mk", ".awk", ".sh", ""}

// TestNoReferenceToPrivateNotes reads all files of the project, and what the lists of the command line print.
func TestNoReferenceToPrivateNotes(t *testing.T) {
	for _, sent := range []string{"see ALGORITHMS.md 3.4", "lost (F5)", "F8 to F11", "CE-17g: a crash",
		"the dossier says"} {
		if !privateNotes.MatchString(sent) {
			t.Errorf("%q passes", sent)
		}
	}
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || path == root+"/bin" ||
			filepath.Dir(path) == root+"/results" && d.Name() != "testdata"): // runs, which keep what they were
			return filepath.SkipDir
		case !d.Type().IsRegular() || !slices.Contains(textFiles, filepath.Ext(path)),
			d.Name() == "citation_test.go":
			return nil
		}
		text, err := os.ReadFile(path)
		refuseNotes(t, path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	calls := [][]string{{"list"}, {"plans"}}
	for _, row := range catalog.All() {
		calls = append(calls, []string{"list", row.Name})
		for _, cell := range row.Faults {
			refuseNotes(t, row.Name+" under "+cell.Fault, cell.Why)
		}
	}
	for _, args := range calls {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != 0 {
			t.Fatalf("%v: status %d: %s", args, code, errs.String())
		}
		refuseNotes(t, strings.Join(args, " "), out.String())
	}
}

// refuseNotes fails for each line that refers to private notes.
func refuseNotes(t *testing.T, where, text string) {
	for i, line := range strings.Split(text, "\n") {
		if found := privateNotes.FindString(line); found != "" {
			t.Errorf("%s, line %d, refers to %s, which users do not have: %s", where, i+1, found,
				strings.TrimSpace(line))
		}
	}
}
