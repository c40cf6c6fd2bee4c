package publish

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/results"
)

var (
	// placeOfFile matches a path that begins at the root of a machine, behind what is no path.
	placeOfFile = regexp.MustCompile(`(^|[\s="'(:,])` +
		`(/(?:home|Users|root|tmp|private|var|mnt|media|opt|srv|work|` +
		`data)/[^\s"'<>(),;:]+)`)
	credential = regexp.MustCompile(`([a-z][a-z0-9+.-]*://)[^/\s"'<>@]*@`)
	// calledBy matches the program at the beginning of a command, wherever it was.
	calledBy = regexp.MustCompile(`^\S*\borchestrator\s`)
)

// anonymous returns a command without the places of files on the machine, and without credentials. sweep
// needs a file by its name only, since its text goes along.
func anonymous(m results.Making, grid string) results.Making {
	m.Command = calledBy.ReplaceAllString(m.Command, bench.Program+" ")
	m.Command = credential.ReplaceAllString(m.Command, "$1")
	if words := strings.SplitN(m.Command, " ", 4); grid != "" && len(words) > 2 && words[1] == "sweep" {
		words[2] = grid
		m.Command = strings.Join(words, " ")
	}
	return m
}

// private says which names of the machine or its user are in a text: places of files, credentials of servers,
// the names themselves.
func private(text string) (found []string) {
	add := func(what string) {
		if !slices.Contains(found, what) {
			found = append(found, what)
		}
	}
	for _, m := range placeOfFile.FindAllStringSubmatch(text, -1) {
		add("the path " + m[2])
	}
	if credential.MatchString(text) {
		add("the credential of a server, in a URL")
	}
	for what, name := range own() {
		if regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text) {
			add(fmt.Sprintf("the %s %s", what, name))
		}
	}
	slices.Sort(found)
	return found
}

// own returns the names of this machine and its user, unless they are such that many have them.
func own() map[string]string {
	const shortest = 4
	names := map[string]string{}
	if host, err := os.Hostname(); err == nil && len(host) >= shortest && host != "localhost" {
		names["host name"] = host
	}
	if u, err := user.Current(); err == nil && len(u.Username) >= shortest && u.Username != "root" {
		names["user name"] = u.Username
	}
	return names
}

// privateIn says which files of words below a folder name the machine or its user. Tables of figures and
// pictures have no such words but those of their runs.
func privateIn(folder string, files []string) (warnings []string) {
	const most = 10
	for _, file := range files {
		if !slices.Contains([]string{".yaml", ".txt", ".md", ".cff", ".html"}, filepath.Ext(file)) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(file)))
		if err != nil {
			continue
		}
		for _, what := range private(string(text)) {
			warnings = append(warnings, file+" has "+what)
		}
	}
	if more := len(warnings) - most; more > 0 {
		warnings = append(warnings[:most], fmt.Sprintf("and %d more such places", more))
	}
	return warnings
}
