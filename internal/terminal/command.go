package terminal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"
)

// Invoked returns how the user calls this program: its name if the search path leads to it, or else as it was
// called now, such as bin/orchestrator.
func Invoked() string {
	name := filepath.Base(os.Args[0])
	if path, err := exec.LookPath(name); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && path == OwnPath() {
			return name
		}
	}
	return os.Args[0]
}

// OwnPath returns the path of this program.
func OwnPath() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// CallOn returns the command line for a command about the run in a folder. It names the folder by FromHere.
func CallOn(command, folder string) string {
	path := FromHere(folder)
	if filepath.Base(path) == path && path != "." { // a bare name would mean a result set
		path = "." + string(filepath.Separator) + path
	}
	return Invoked() + " " + command + " " + ShellQuoted(path)
}

// ShellQuoted returns a word quoted as an argument for a shell, if it needs quotes.
func ShellQuoted(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+,:@=", r)
	}
	if strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// FromHere returns a path relative to the working directory, if it is below that.
func FromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return path
}
