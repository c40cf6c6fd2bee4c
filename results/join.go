package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// SetTables are the tables of runs that can be joined over a set, by the names of their files.
var SetTables = []string{RowsFile, MessagesFile, SizesFile, ResourcesFile, FaultsFile, TimelineFile,
	BeliefsFile}

// StudyTables are the tables of a set that studies write: of none of its runs.
var StudyTables = []string{MatrixFile, SplitBrainFile, RatesFile, FailoverFile}

// A grid is a table as its file has it: a line of headers, and lines of as many cells.
type grid struct {
	folder *Folder
	lines  [][]string
}

// readGrid reads a table of a run, whatever its columns mean. It is nil if the run has none.
func readGrid(f *Folder, name string) (*grid, error) {
	text, err := os.ReadFile(f.File(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	switch {
	case err != nil:
		return nil, tableError(name, err)
	case len(lines) == 0:
		return nil, &cellError{File: name, Line: 1, What: "the file is empty: it lacks even its headers"}
	case !slices.Contains(lines[0], "run"):
		return nil, &cellError{File: name, Line: 1, What: "no column says of which run it is"}
	}
	return &grid{f, lines}, nil
}

// Joined returns a table of several runs as one: their rows one after the other, cells as they are, and the
// column run by the names of the folders. Its columns are those that any of them has. Without rows it is nil.
func Joined(name string, runs []*Folder) ([]byte, error) {
	var all []*grid
	var headers []string
	for _, f := range runs {
		g, err := readGrid(f, name)
		if err != nil {
			return nil, err
		}
		if g != nil {
			all, headers = append(all, g), united(headers, g.lines[0])
		}
	}
	if at := slices.Index(headers, BoundsColumn); at >= 0 { // the last, as in the tables of runs
		headers = append(slices.Delete(headers, at, at+1), BoundsColumn)
	}
	rows := 0
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	out.Write(headers) // out keeps the first error, and memory takes all
	for _, g := range all {
		for _, line := range g.lines[1:] {
			record := make([]string, len(headers))
			for i, cell := range line {
				if g.lines[0][i] == "run" {
					cell = g.folder.Name() // it may have been renamed
				}
				record[slices.Index(headers, g.lines[0][i])] = cell
			}
			out.Write(record)
			rows++
		}
	}
	if out.Flush(); rows == 0 {
		return nil, nil
	}
	return b.Bytes(), out.Error()
}

// united adds headers to others, each behind the one that it follows.
func united(headers, more []string) []string {
	at := 0
	for _, h := range more {
		if i := slices.Index(headers, h); i >= 0 {
			at = i + 1
			continue
		}
		headers = slices.Insert(headers, at, h)
		at++
	}
	return headers
}

// CompareJoined says where a stored table of a set differs from the table that its runs give.
func CompareJoined(name string, stored, made []byte) []Difference {
	d := &differing{file: name}
	header := headerOf(made)
	was, is := strings.Split(string(stored), "\n"), strings.Split(string(made), "\n")
	if len(was) != len(is) {
		d.add(Difference{What: fmt.Sprintf("it has %d lines, and its runs give %d", len(was)-1, len(is)-1)})
	}
	for i := range min(len(was), len(is)) {
		if was[i] == is[i] {
			continue
		}
		one := Difference{Line: i + 1, What: fmt.Sprintf("it says %s, and its run %s", shortened(was[i]),
			shortened(is[i]))}
		had, has := cellsOf(was[i]), cellsOf(is[i])
		for at, column := range header {
			if len(had) == len(header) && len(has) == len(header) && had[at] != has[at] {
				one.Column = column
				one.What = fmt.Sprintf("%s: it says %s, and its run %s", column, shortened(had[at]),
					shortened(has[at]))
				break
			}
		}
		d.add(one)
	}
	return d.list()
}

// cellsOf returns the cells of a line of a table; none if it is no such line.
func cellsOf(line string) []string {
	cells, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil && err != io.EOF {
		return nil
	}
	return cells
}
