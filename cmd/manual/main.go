// Manual writes what an archive of a release has for shells and readers: completions and manual pages, made
// from the commands, into a folder. SOURCE_DATE_EPOCH is the date of the pages.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"turnstile/commands"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "manual: name the folder to write into")
		os.Exit(64)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "manual: %v\n", err)
		os.Exit(1)
	}
}

// write writes all files below a folder, under the names that shells and man look for.
func write(to string) error {
	root := commands.Manual()
	bash := func(path string) error { return root.GenBashCompletionFileV2(path, true) }
	fish := func(path string) error { return root.GenFishCompletionFile(path, true) }
	for name, generate := range map[string]func(string) error{"completions/bash/orchestrator": bash,
		"completions/zsh/_orchestrator": root.GenZshCompletionFile, "completions/fish/orchestrator.fish": fish} {
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := generate(path); err != nil {
			return err
		}
	}
	pages := filepath.Join(to, "man/man1")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	asMarkdown(root)
	return doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{Path: pages, CommandSeparator: "-",
		Header: &doc.GenManHeader{Section: "1", Source: "Turnstile", Manual: "Turnstile"}})
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
