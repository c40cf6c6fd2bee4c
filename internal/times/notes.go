package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"

	"go.yaml.in/yaml/v3"
)

const notesFile = "docs/outputs.yaml"

const notesHead = "# The texts on pages that make times has made, in the order of each page: the command, " +
	"the commit whose\n# programs it called, and the digest of the text. Written by make times alone.\n"

// A note says which command and commit made a text on a page.
type note struct {
	Command string `yaml:"command"`
	Commit  string `yaml:"commit"`
	SHA256  string `yaml:"sha256"`
}

// notes has the notes of each page, by its path.
type notes map[string][]note

// readNotes reads a file of notes. A file that is missing has no notes.
func readNotes(path string) (notes, error) {
	all := notes{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	return all, errors.Join(err, yaml.Unmarshal(text, &all))
}

// write writes the notes, without pages that have none.
func (n notes) write(path string) error {
	for page, of := range n {
		if len(of) == 0 {
			delete(n, page)
		}
	}
	text, err := yaml.Marshal(n)
	return errors.Join(err, os.WriteFile(path, append([]byte(notesHead), text...), 0o644))
}

// An nthText is a text on a page: the nth text that a command makes.
type nthText struct {
	command string
	nth     int
}

// noteOf returns the note of the next text that a command makes, and how many texts before it the command
// makes. done has the notes of the texts before it.
func noteOf(all, done []note, command string) (note, int) {
	nth := 0
	for _, n := range done {
		if n.Command == command {
			nth++
		}
	}
	left := nth
	for _, n := range all {
		if n.Command == command {
			if left == 0 {
				return n, nth
			}
			left--
		}
	}
	return note{Command: command}, nth
}

// digest returns the SHA-256 of a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
