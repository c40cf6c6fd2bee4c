package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"turnstile/commands"
)

// completions returns the scripts by which shells complete commands, under the names that shells look for.
func completions() ([]file, error) {
	var bash, zsh, fish bytes.Buffer
	root := commands.Manual()
	if err := root.GenBashCompletionV2(&bash, true); err != nil {
		return nil, err
	}
	if err := root.GenZshCompletion(&zsh); err != nil {
		return nil, err
	}
	err := root.GenFishCompletion(&fish, true)
	return []file{{bashFile, 0o644, bash.Bytes()}, {zshFile, 0o644, zsh.Bytes()},
		{fishFile, 0o644, fish.Bytes()}}, err
}

const (
	bashFile = "completions/bash/orchestrator"
	zshFile  = "completions/zsh/_orchestrator"
	fishFile = "completions/fish/orchestrator.fish"
)

// manFolder has a page for each command. MANPATH may name the folder above.
const manFolder = "man/man1"

// manPages returns a page for each command.
func manPages(r *release) ([]file, error) {
	scratch, err := os.MkdirTemp("", "turnstile-man-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	root := commands.Manual()
	root.DisableAutoGenTag = true
	asMarkdown(root)
	err = doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{Path: scratch, CommandSeparator: "-",
		Header: &doc.GenManHeader{Section: "1", Date: &r.date, Source: "Turnstile " + r.version,
			Manual: "Turnstile"}})
	if err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(scratch)
	var files []file
	for _, page := range pages {
		body, err := os.ReadFile(filepath.Join(scratch, page.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{manFolder + "/" + page.Name(), 0o644, body})
	}
	return files, err
}

// asMarkdown prepares the help of a command and of those below it for pages, which cobra makes from Markdown:
// indented lines stay lines.
func asMarkdown(cmd *cobra.Command) {
	cmd.Long = blocks(cmd.Long)
	for _, below := range cmd.Commands() {
		asMarkdown(below)
	}
}

// blocks puts indented lines into blocks of code.
func blocks(text string) string {
	const fence = "```\n"
	var out strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		indented := strings.HasPrefix(line, " ") || inside && line == "\n"
		if indented != inside {
			if indented {
				out.WriteString("\n" + fence)
			} else {
				out.WriteString(fence + "\n")
			}
			inside = indented
		}
		out.WriteString(line)
	}
	if inside {
		out.WriteString("\n" + fence)
	}
	return out.String()
}
