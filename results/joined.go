package results

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"turnstile/internal/input"
)

// Joined tables hold the runs of a set whose folders are not there, as in a published set: each table has the
// rows of all runs, with the name of the run in the column run.

// A joined is what the joined tables of a set have of one run.
type joined struct {
	tables map[string][]byte // the run's rows of a table below its headers, by the name of the table
	made   []Making          // the commands that made the runs of the set
}

// OpenJoined opens the set at a path by its joined tables. A run of it has tables, but no record, verdicts or
// histories. The error is a JoinedError if a table cannot be parsed, or is about a run that runs.csv lacks.
func OpenJoined(path string) (*Set, error) {
	path = filepath.Clean(path)
	s := &Set{Path: path, Joined: true}
	made, err := Makings(filepath.Dir(path), filepath.Base(path))
	if unread := new(fs.PathError); err != nil && !errors.As(err, &unread) {
		err = JoinedError{err}
	}
	if err != nil {
		return nil, err
	}
	runs := map[string]*Folder{}
	for _, table := range SetTables {
		all, headers, err := splitRuns(filepath.Join(path, table))
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			f := runs[one.run]
			switch {
			case f == nil && table != RowsFile:
				return nil, JoinedError{fmt.Errorf("%s is about the run %q, which %s lacks", table, one.run, RowsFile)}
			case f == nil:
				f = &Folder{Path: filepath.Join(path, one.run), joined: &joined{map[string][]byte{}, made}}
				runs[one.run], s.Runs = f, append(s.Runs, f)
			}
			f.joined.tables[table] = tableOf(headers, one.lines)
		}
	}
	return s, nil
}

// A JoinedError is the error of joined tables that contradict each other, or cannot be parsed.
type JoinedError struct{ error }

func (e JoinedError) Unwrap() error { return e.error }

// IsJoined reports whether a path is the folder of a set that has tables of its runs, or of a study, and no
// folders of runs: with the record of its commands or, if it was published, a README.md.
func IsJoined(path string) bool {
	has := func(name string) bool { return hasTable(filepath.Join(path, name)) }
	return (has(ReadmeFile) && slices.ContainsFunc(slices.Concat(SetTables, StudyTables), has) ||
		has(RowsFile) && has(SetFile)) &&
		!IsPublished(path) && OpenSet(filepath.Dir(path), filepath.Base(path)) == nil
}

// PathOfStudy returns the path of the set with a record of its commands and the table of a study that ref
// stands for, as for OpenSet; "": none.
func PathOfStudy(root, ref string) string {
	for _, path := range pathsOf(root, ref) {
		has := func(name string) bool { return hasTable(filepath.Join(path, name)) }
		if has(SetFile) && slices.ContainsFunc(StudyTables, has) {
			return path
		}
	}
	return ""
}

// PathOfJoined returns the path of the set with joined tables that ref stands for, as for OpenSet; "": none.
func PathOfJoined(root, ref string) string {
	for _, path := range pathsOf(root, ref) {
		if IsJoined(path) {
			return path
		}
	}
	return ""
}

// linesOf are the lines of one run in a joined table.
type linesOf struct {
	run     string
	lines   [][]string
	numbers []int // of the lines in the table, from 2
}

// gzipped follows the name of a table that is compressed, as large tables of published sets are.
const gzipped = ".gz"

// openTable opens a table, compressed or not.
func openTable(path string) (io.ReadCloser, error) {
	if exists(path) || !exists(path+gzipped) {
		return input.Open(path)
	}
	packed, err := input.ReadFile(path+gzipped, input.TableLimit)
	if err != nil {
		return nil, err
	}
	return gzip.NewReader(bytes.NewReader(packed))
}

// hasTable reports whether there is a table, compressed or not.
func hasTable(path string) bool { return exists(path) || exists(path+gzipped) }

// readAll reads a table, compressed or not.
func readAll(path string) ([]byte, error) {
	file, err := openTable(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, input.TableLimit+1))
	if err == nil && len(text) > input.TableLimit {
		err = fmt.Errorf("%s is larger than %d MB", path, input.TableLimit>>20)
	}
	return text, err
}

// WriteJoined writes a joined table into the folder of a set, compressed if it is large.
func WriteJoined(path, table string, text []byte) error {
	const large = 100 << 10
	if len(text) <= large {
		return writeFile(filepath.Join(path, table), func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	return writeFile(filepath.Join(path, table)+gzipped, func(w io.Writer) error {
		out, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err == nil {
			_, err = out.Write(text)
		}
		return cmp.Or(err, out.Close())
	})
}

// splitRuns returns the lines of each run in a joined table, the runs in the order of their first lines;
// nothing if there is no such table.
func splitRuns(path string) (all []linesOf, headers []string, err error) {
	if !hasTable(path) {
		return nil, nil, nil
	}
	text, err := readAll(path)
	if unread := new(fs.PathError); errors.As(err, &unread) {
		return nil, nil, fmt.Errorf("reading results: %w", err)
	} else if err != nil {
		return nil, nil, JoinedError{fmt.Errorf("%s cannot be read: %w", filepath.Base(path), err)}
	}
	lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	name := filepath.Base(path)
	if err == nil && (len(lines) == 0 || !slices.Contains(lines[0], "run")) {
		err = &cellError{File: name, Line: 1, What: "the column run is missing"}
	}
	if err != nil {
		return nil, nil, JoinedError{tableError(name, err)}
	}
	at, number := slices.Index(lines[0], "run"), map[string]int{}
	for l, line := range lines[1:] {
		i, is := number[line[at]]
		if !is {
			i = len(all)
			number[line[at]], all = i, append(all, linesOf{run: line[at]})
		}
		all[i].lines, all[i].numbers = append(all[i].lines, line), append(all[i].numbers, l+2)
	}
	return all, lines[0], nil
}

// tableOf returns a table as CSV.
func tableOf(headers []string, lines [][]string) []byte {
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	out.Write(headers) // writing to memory does not fail
	out.WriteAll(lines)
	return b.Bytes()
}

// Joined reports whether the run has joined tables alone.
func (f *Folder) Joined() bool { return f.joined != nil }

// MadeOn returns the machine on which a version made runs of the set, for a run with joined tables.
func (f *Folder) MadeOn(version string) (m Machine, known bool) {
	for _, made := range f.joined.made {
		if made.Versions["turnstile"] == version {
			return made.Machine, true
		}
	}
	return m, false
}

// has reports whether the run has a table.
func (f *Folder) has(table string) bool {
	if f.joined != nil {
		return f.joined.tables[table] != nil
	}
	return hasTable(f.File(table))
}

// open opens a table of the run.
func (f *Folder) open(table string) (io.ReadCloser, error) {
	if f.joined == nil {
		return openTable(f.File(table))
	}
	if !f.has(table) {
		return nil, &fs.PathError{Op: "open", Path: f.File(table), Err: fs.ErrNotExist}
	}
	return io.NopCloser(bytes.NewReader(f.joined.tables[table])), nil
}

// RunsNamedIn returns the runs that a table of a study names in its column run, as set/run, by the number of
// the line; nothing if the set has no such table.
func (s *Set) RunsNamedIn(table string) (map[int]string, error) {
	all, headers, err := splitRuns(filepath.Join(s.Path, table))
	named := map[int]string{}
	at := slices.Index(headers, "run")
	for _, of := range all {
		for i, line := range of.lines {
			named[of.numbers[i]] = line[at]
		}
	}
	return named, err
}

// Text returns a table of the run as CSV, and whether the run has it.
func (f *Folder) Text(table string) (text []byte, is bool) {
	file, err := f.open(table)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	text, err = io.ReadAll(io.LimitReader(file, input.TableLimit))
	return text, err == nil
}

// TableIn returns a table in the folder of a set. The error is fs.ErrNotExist if it is not there.
func TableIn(path, table string) ([]byte, error) { return readAll(filepath.Join(path, table)) }

const lacksColumn = "it lacks the column"

// LacksColumn reports whether the difference is that a table lacks a column, as those of older versions do.
func (d Difference) LacksColumn() bool { return d.What == lacksColumn }

// CompareCells returns where the cells of a stored table of a run differ from those of the same table made
// again. Columns are found by their headers; a table of a set may have more of them, which are empty. The
// excepted columns are not compared.
func CompareCells(name string, stored, made []byte, except ...string) []Difference {
	d := &differing{file: name}
	was, err := csv.NewReader(bytes.NewReader(stored)).ReadAll()
	is, wrong := csv.NewReader(bytes.NewReader(made)).ReadAll()
	if err = cmp.Or(err, wrong); err != nil || len(was) == 0 || len(is) == 0 {
		d.add(Difference{What: fmt.Sprintf("it cannot be compared: %v", err)})
		return d.list()
	}
	if len(was) != len(is) {
		d.add(Difference{What: fmt.Sprintf("it has %d rows, and the run made again has %d", len(was)-1, len(is)-1)})
	}
	var lacking []Difference // all of them are told, whatever else differs
	for _, column := range is[0] {
		if !slices.Contains(was[0], column) && !slices.Contains(except, column) {
			lacking = append(lacking, Difference{File: name, Column: column, What: lacksColumn})
			except = append(slices.Clip(except), column)
		}
	}
	for i := range min(len(was), len(is)) {
		if i == 0 {
			continue
		}
		for _, column := range united(slices.Clone(is[0]), was[0]) {
			if slices.Contains(except, column) {
				continue
			}
			had, has := cellAt(was, i, column), cellAt(is, i, column)
			if had != has {
				d.add(Difference{Line: i + 1, Column: column,
					What: fmt.Sprintf("%s: it says %s, and the run made again %s", column, shortened(had), shortened(has))})
			}
		}
	}
	return append(lacking, d.list()...)
}

// cellAt returns the cell of a line in a column; "" if the table lacks the column.
func cellAt(lines [][]string, line int, column string) string {
	if at := slices.Index(lines[0], column); at >= 0 {
		return lines[line][at]
	}
	return ""
}
