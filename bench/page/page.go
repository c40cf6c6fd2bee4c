package page

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"turnstile/bench"
	"turnstile/report/draw"
	"turnstile/results"
)

// A Page is what there is to be said of a set.
type Page struct {
	Name string // of the set
	Calls
	Valid    int // trials
	Sections []section
	LeftOut  []string // sections without data, and why
	Damaged  []string // runs that cannot be read as they should be, and why

	most int // bytes of the HTML file
}

// Calls are the commands that a page names.
type Calls struct {
	Command    string // makes the page again
	OnePicture string // makes a picture again, by the name that follows; empty: Command with --picture
	Program    string // the first word of the others
	Runs       string // by which runs are named before their own name, as in SET/RUN
	Flags      string // that rerun takes beside; each with a space before it
}

// A section is a title and what stands below it, in order.
type section struct {
	Title  string
	Blocks []block
}

// A block is one of these: a text, a table or a figure.
type block struct {
	Text   string
	Table  *table
	Figure *figureOf
}

// A table has a line of headers. Its first Words columns are words, the others numbers.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   int
	Folded  bool // it is shown on demand
}

// A figureOf is a picture with the data that it shows.
type figureOf struct {
	Name    string // of its files
	Caption string
	Inline  string // as an element of an HTML page; empty: it would make the page too large
	File    string // as a file of its own
	Wide    bool   // its text can be read only if it is wide
	CSV     string
}

// ErrNoTrials says that no trial of a set can be read.
var ErrNoTrials = errors.New("no trials can be read")

// A maker makes the page of a set.
type maker struct {
	*Page
	set      *results.Set
	all      []*experiment // by setting, and then by series and nodes
	settings []*setting
	names    map[string]int // of series, to their looks
	figures  map[string]int // how many have a name that begins so
}

// Make returns the page of a set. The name is what the set is called. What cannot be read is on the page; if
// there are neither trials nor a fault matrix the error is ErrNoTrials.
func Make(set *results.Set, name string, calls Calls) (*Page, error) {
	m := &maker{Page: &Page{Name: name, Calls: calls, most: mostBytes}, set: set, figures: map[string]int{}}
	trials := bench.StoredTrials(set.Runs, func(folder *results.Folder, err error) {
		m.Damaged = append(m.Damaged, folder.Name()+": "+
			strings.NewReplacer("\n", "; ", set.Path+string(filepath.Separator), "").Replace(err.Error()))
	})
	if len(trials) == 0 {
		if m.matrix(); len(m.Sections) == 0 { // one of simulated runs has no others
			return m.Page, ErrNoTrials
		}
		m.LeftOut = nil
		return m.Page, nil
	}
	m.group(trials)
	m.about(trials)
	m.failovers()
	if m.Valid == 0 {
		return m.Page, nil
	}
	m.boards()
	m.curves()
	m.percentiles()
	m.fairness()
	m.elections()
	m.faults()
	m.matrix()
	m.ledgers()
	return m.Page, nil
}

// add adds a section, or says why there is none.
func (m *maker) add(title, lacks string, blocks []block) {
	if len(blocks) == 0 {
		m.LeftOut = append(m.LeftOut, strings.ToLower(title[:1])+title[1:]+" ("+lacks+")")
		return
	}
	m.Sections = append(m.Sections, section{title, blocks})
}

// widest is how wide a picture is at most that can be read on a phone, in pixels.
const widest = 500

// figureBlock returns a figure whose files begin with a word, with its data.
func figureBlock[T any](m *maker, begin, caption string, p *draw.Picture, data []T) block {
	m.figures[begin]++
	f := &figureOf{Name: fmt.Sprintf("%s-%d", begin, m.figures[begin]), Caption: caption, File: p.File(),
		Wide: p.Width > widest, CSV: tableText(data)}
	class := map[bool]string{true: "wide", false: "chart"}[f.Wide]
	f.Inline = p.Inline(class, f.Name)
	return block{Figure: f}
}

// tableText returns rows as CSV.
func tableText[T any](rows []T) string {
	var b strings.Builder
	if err := results.WriteTable(&b, rows); err != nil {
		panic(err) // memory takes all
	}
	return b.String()
}

// figures returns the pictures of the page, in order.
func (p *Page) figures() (all []*figureOf) {
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Figure != nil {
				all = append(all, b.Figure)
			}
		}
	}
	return all
}

// Figures returns how many pictures the page has.
func (p *Page) Figures() int { return len(p.figures()) }

// Pictures returns their names.
func (p *Page) Pictures() (names []string) {
	for _, f := range p.figures() {
		names = append(names, f.Name)
	}
	return names
}

// Picture returns a picture of the page as SVG, and the data that it shows as CSV.
func (p *Page) Picture(name string) (svg, data string, found bool) {
	for _, f := range p.figures() {
		if f.Name == name {
			return f.File, f.CSV, true
		}
	}
	return "", "", false
}
