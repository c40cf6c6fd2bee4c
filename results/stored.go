package results

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"turnstile/internal/input"
)

// A Table is a file that a run makes from its record and its histories, and that can be made from them again.
type Table struct {
	Name string
	None bool // the run has no such file

	byTrial bool // each row belongs to one trial
	write   func(w io.Writer) error
	compare func(stored []byte, how comparison) []Difference
}

// A comparison says how to compare a stored file.
type comparison struct {
	changed  bool  // the file was changed after the run wrote it
	unjudged []int // trials that could not be judged, which the newly made table lacks
}

// TableOf returns a table in which each row belongs to one trial, such as [RowsFile].
func TableOf[T any](name string, rows []T) Table {
	return Table{Name: name, byTrial: true,
		write: func(w io.Writer) error { return WriteTable(w, rows) },
		compare: func(stored []byte, how comparison) []Difference {
			return compareRows(name, stored, rows, how)
		}}
}

// TextTable returns a table that is a text for people, or a picture. Another commit may word or draw it
// differently, so the stored file is compared only if it was changed after it was written.
func TextTable(name, text string) Table {
	write := func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	return Table{Name: name, write: write, compare: comparedAsText(name, write)}
}

// comparedAsText compares a stored file, if it was changed, with the output of write.
func comparedAsText(name string, write func(w io.Writer) error) func([]byte, comparison) []Difference {
	return func(stored []byte, how comparison) []Difference {
		if !how.changed {
			return nil
		}
		return compareLines(name, stored, made(write), nil)
	}
}

// VerdictsTable returns verdict.yaml: a list with an element for each trial and, as in run.yaml, a checksum
// at its end. It is compared like a TextTable.
func VerdictsTable[T any](verdicts []T) Table {
	write := func(w io.Writer) error {
		return seal(w, func(w io.Writer) error { return encodeList(w, verdicts) })
	}
	return Table{Name: VerdictFile, write: write, compare: comparedAsText(VerdictFile, write)}
}

// made returns the output of write.
func made(write func(w io.Writer) error) []byte {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		panic(err) // writing to memory does not fail
	}
	return b.Bytes()
}

// Write writes the file of a table, and returns its digest. It does nothing if the run has no such file. The
// name of the file is on the disk only after Sync, so that many tables cost one.
func (f *Folder) Write(t Table) (digest string, err error) {
	if t.None {
		return "", nil
	}
	sum := crc32.New(castagnoli)
	err = placeFile(f.File(t.Name), func(w io.Writer) error { return t.write(io.MultiWriter(w, sum)) })
	return fmt.Sprintf("%08x", sum.Sum32()), err
}

// digestOf returns the CRC-32C of a file, in the form that run.yaml has.
func digestOf(b []byte) string { return fmt.Sprintf("%08x", checksum(b)) }

// Digest returns the digest of a file in the folder; "" if the file is missing.
func (f *Folder) Digest(name string) (string, error) {
	b, err := input.ReadFile(f.File(name), input.TableLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading results: %w", err)
	}
	return digestOf(b), nil
}

// Compare compares the stored file of a table with the table. digest is the digest of the file when it was
// written. unjudged are trials that could not be judged, so that the table lacks them. A remark, if not
// empty, says that the file was changed but has the same content, or that it was not compared.
func (f *Folder) Compare(t Table, digest string, unjudged []int) (differences []Difference, remark string) {
	whole := func(what string) []Difference { return []Difference{{File: t.Name, What: what}} }
	stored, err := input.ReadFile(f.File(t.Name), input.TableLimit)
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
	changed := digest != digestOf(stored)
	if len(unjudged) > 0 && !t.byTrial {
		remark = t.Name + " is about all trials, and is not compared"
		if changed {
			remark += "; it was changed after it was written"
		}
		return nil, remark
	}
	differences = t.compare(stored, comparison{changed, unjudged})
	if changed && len(differences) == 0 && len(unjudged) == 0 {
		remark = t.Name + " was changed after it was written, and has the same content"
	}
	return differences, remark
}
