package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A Table is a file that a run makes from its record and its histories, and that can be made again from them.
type Table struct {
	Name string
	None bool // the run has no such file

	byTrial bool // each row is about one trial
	write   func(w io.Writer) error
	compare func(stored []byte, how comparison) []Difference
	anew    func(stored []byte) string // which of its figures an older version measured otherwise; nil: none
}

// A comparison says how a stored file is compared.
type comparison struct {
	as       origin
	unjudged []int // trials that the table lacks, since they could not be judged
}

// An origin says whether a stored file is as the run wrote it.
type origin int

const (
	unknown origin = iota // an older version wrote it, and kept no digest
	asWritten
	changed
)

// TableOf is a table with a row for each of something in a trial, such as [RowsFile]. The options are those
// that older versions wrote by their names alone.
func TableOf[T any](name string, rows []T, options ...string) Table {
	return Table{Name: name, byTrial: true,
		write: func(w io.Writer) error { return WriteTable(w, rows) },
		compare: func(stored []byte, how comparison) []Difference {
			return compareRows(name, stored, rows, how, options)
		},
		anew: func(stored []byte) string { return anewIn(name, stored, rows) }}
}

// TextTable is a text for people, or a picture. Another version may word or draw it otherwise, so it differs
// only if it was changed after it was written.
func TextTable(name, text string) Table {
	return Table{Name: name,
		write: func(w io.Writer) error { _, err := io.WriteString(w, text); return err },
		compare: func(stored []byte, how comparison) []Difference {
			if how.as != changed {
				return nil
			}
			return compareLines(name, stored, []byte(text), nil)
		}}
}

// VerdictsTable is verdict.yaml, a list with an element for each trial, which ends with a checksum as
// run.yaml does. It is compared like a text; without a digest, the checksum tells whether it was changed.
func VerdictsTable(v any) Table {
	return Table{Name: VerdictFile,
		write: func(w io.Writer) error { return writeSealed(w, v) },
		compare: func(stored []byte, how comparison) []Difference {
			if _, err := unsealed(stored); err == nil && len(stored) > 0 && how.as != changed {
				return nil
			}
			return compareLines(VerdictFile, stored, made(func(w io.Writer) error { return writeSealed(w, v) }), nil)
		}}
}

// made returns what write writes.
func made(write func(w io.Writer) error) []byte {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		panic(err) // memory takes all, and it was written before
	}
	return b.Bytes()
}

// Write replaces the file of a table, and returns its digest. It does nothing if there is none.
func (f *Folder) Write(t Table) (digest string, err error) {
	if t.None {
		return "", nil
	}
	text := made(t.write)
	return digestOf(text), writeFile(f.File(t.Name), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// digestOf returns the digest of a file, as run.yaml has it: its CRC-32C.
func digestOf(b []byte) string { return fmt.Sprintf("%08x", checksum(b)) }

// Digest returns the digest of a file in the folder; nothing if it is missing.
func (f *Folder) Digest(name string) (string, error) {
	b, err := os.ReadFile(f.File(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading results: %w", err)
	}
	return digestOf(b), nil
}

// Compare compares the stored file of a table with the table. digest is that of the file when it was written;
// empty: unknown. unjudged are trials that the table lacks, since they could not be judged. The remark, if
// there is one, says that the file was changed and has the same content, that it is not compared, or which
// figures an older version measured otherwise.
func (f *Folder) Compare(t Table, digest string, unjudged []int) (differences []Difference, remark string) {
	whole := func(what string) []Difference { return []Difference{{File: t.Name, What: what}} }
	stored, err := os.ReadFile(f.File(t.Name))
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case t.None && missing:
		return nil, ""
	case t.None:
		return whole("it is there, and the run has no such table"), ""
	case missing:
		return whole("it is missing"), ""
	case err != nil:
		return whole("it cannot be read: " + err.Error()), ""
	}
	as := asWritten
	switch digest {
	case "":
		as = unknown
	case digestOf(stored):
	default:
		as = changed
	}
	if len(unjudged) > 0 && !t.byTrial {
		remark = t.Name + " is about all trials, and is not compared"
		if as == changed {
			remark += "; it was changed after it was written"
		}
		return nil, remark
	}
	differences = t.compare(stored, comparison{as, unjudged})
	if as == changed && len(differences) == 0 && len(unjudged) == 0 {
		remark = t.Name + " was changed after it was written, and has the same content"
	}
	if as != changed && t.anew != nil {
		remark = t.anew(stored)
	}
	return differences, remark
}
