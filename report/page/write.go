package page

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"turnstile/draw"
	"turnstile/internal/input"
	"turnstile/internal/pattern"
	"turnstile/results"
)

// The files of a page in its folder. The pictures and their data are in a folder beside them.
const (
	HTMLFile     = "report.html"
	MarkdownFile = "report.md"
	FiguresDir   = "report"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Picture returns the picture as an element of an HTML page.
func (f *figureOf) Picture() template.HTML { return template.HTML(f.Inline) }

// Again returns the command that makes only this picture again.
func (p *Page) Again(f *figureOf) string {
	return p.Command + " --picture " + f.Name
}

// longCell is the number of letters above which a cell counts as words, in any column. A number with more
// than wideCell letters, such as one with an interval, may be broken into lines.
const (
	longCell = 30
	wideCell = 12
)

// Class returns the HTML class of a cell in a column: w for words, w long for many words, b for a number that
// may be broken.
func (t *table) Class(column int, cell string) string {
	switch size := utf8.RuneCountInString(cell); {
	case size > longCell:
		return "w long"
	case column < t.Words:
		return "w"
	case size > wideCell:
		return "b"
	}
	return ""
}

// Headed reports whether the table has headers.
func (t *table) Headed() bool { return strings.Join(t.Head, "") != "" }

// Style returns the colors of the page and of all pictures.
func (p *Page) Style() template.CSS { return template.CSS(draw.Variables() + "\n" + draw.Style()) }

// Missing lists the titles of the sections that are left out.
func (p *Page) Missing() string { return strings.Join(p.LeftOut, "; ") }

// mostBytes is the greatest size of the HTML file of a page that can go by mail and opens on a phone.
const mostBytes = 5_000_000

// leftOutBytes is an upper bound for the size of the text that replaces a picture.
const leftOutBytes = 400

// HTML writes the page as one HTML file, which needs no other file. If it would be too large, the last
// pictures are left out: they are only in the files beside it.
func (p *Page) HTML(w io.Writer) error {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return err
	}
	if over := b.Len() - p.most; over > 0 {
		all := p.figures()
		for i := len(all) - 1; i >= 0 && over > 0; i-- {
			over -= len(all[i].Inline) - leftOutBytes
			all[i].Inline = ""
		}
		return pageTemplate.Execute(w, p)
	}
	_, err := b.WriteTo(w)
	return err
}

// Write writes the page into a folder, which it makes if need be: [HTMLFile], [MarkdownFile], and the
// pictures with their data in [FiguresDir].
func (p *Page) Write(folder string) error {
	below := filepath.Join(folder, FiguresDir)
	if err := os.MkdirAll(below, 0o755); err != nil {
		return unwritable(folder, err)
	}
	if err := results.Probe(below); err != nil {
		return unwritable(below, errors.Unwrap(err))
	}
	removeStale(folder)
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Figure == nil {
				continue
			}
			files := map[string]string{".svg": b.Figure.drawn.File()}
			if b.Figure.Beside {
				files[".csv"] = b.Figure.csv()
			}
			for ending, text := range files {
				if err := writeText(filepath.Join(below, b.Figure.Name+ending), text); err != nil {
					return err
				}
			}
		}
	}
	if err := writeText(filepath.Join(folder, MarkdownFile), p.Markdown()); err != nil {
		return err
	}
	return results.WriteFile(filepath.Join(folder, HTMLFile), p.HTML)
}

// removeStale removes the pictures and data of an earlier page in the same folder.
func removeStale(folder string) {
	before, _ := input.ReadFile(filepath.Join(folder, MarkdownFile), input.Limit)
	for _, named := range pictureOf().FindAllSubmatch(before, -1) {
		for _, ending := range []string{".svg", ".csv"} {
			os.Remove(filepath.Join(folder, FiguresDir, string(named[1])+ending))
		}
	}
}

// pictureOf matches the reference of a page to a picture.
var pictureOf = pattern.Of(`\(` + FiguresDir + `/([a-z0-9-]+)\.svg\)`)

func writeText(path, text string) error {
	return results.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func unwritable(folder string, err error) error {
	return fmt.Errorf("the report cannot be written to %s: make that folder writable, or name another with "+
		"--out: %w", folder, err)
}

// Markdown returns the page as Markdown. Its pictures are in [FiguresDir].
func (p *Page) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s Made by `%s`\n", marked(p.Name), marked(p.Lead), p.Command)
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "\n## %s\n", s.Title)
		for _, block := range s.Blocks {
			switch {
			case block.Text != "":
				fmt.Fprintf(&b, "\n%s\n", marked(strings.TrimPrefix(block.Summary+": "+block.Text, ": ")))
			case block.Table != nil:
				block.Table.markdown(&b)
			case block.Figure != nil:
				f := block.Figure
				fmt.Fprintf(&b, "\n![%s](%s/%s.svg)\n\n%[1]s. Made by `%[4]s`", marked(f.Caption), FiguresDir, f.Name,
					p.Again(f))
				if f.Beside {
					fmt.Fprintf(&b, ", data: [%s.csv](%s/%[1]s.csv)", f.Name, FiguresDir)
				}
				b.WriteString("\n")
			}
		}
	}
	b.WriteString("\n## What is not here\n\n")
	if len(p.LeftOut) > 0 {
		fmt.Fprintf(&b, "Left out for lack of data: %s.\n", marked(p.Missing()))
	} else {
		b.WriteString("Nothing was left out for lack of data.\n")
	}
	for i, d := range p.Damaged {
		if i == 0 {
			b.WriteString("\nNot everything could be read:\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", marked(d))
	}
	return b.String()
}

// markdown writes a table.
func (t *table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n**%s**\n\n", marked(t.Caption))
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + marked(c) + " |")
		}
		b.WriteString("\n")
	}
	line(t.Head)
	b.WriteString("|")
	for i := range t.Head {
		if i < t.Words {
			b.WriteString("---|")
		} else {
			b.WriteString("---:|")
		}
	}
	b.WriteString("\n")
	for _, row := range t.Rows {
		line(row)
	}
}

// marked returns a text with the special characters of Markdown escaped.
func marked(text string) string { return marks.Replace(text) }

var marks = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "\n", " ",
	"`", "\\`")
