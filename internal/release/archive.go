package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A file is a file of an archive. Its name is relative to the folder of the archive.
type file struct {
	name string
	mode int64
	body []byte
}

// sumsFile has the sums of the archives, as sha256sum -c reads them.
const sumsFile = "SHA256SUMS"

// pack writes an archive. Its bytes depend on the arguments alone: files are sorted, have one time and belong
// to user 0, and gzip stores neither a name nor a time.
func pack(name, folder string, files []file, date time.Time) error {
	byName := func(a, b file) int { return cmp.Compare(a.name, b.name) }
	files = slices.SortedFunc(slices.Values(files), byName)
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zip)
	for _, f := range files {
		err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Join(folder, f.name),
			Mode: f.mode, Size: int64(len(f.body)), ModTime: date, Format: tar.FormatUSTAR})
		if err == nil {
			_, err = archive.Write(f.body)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		return err
	}
	return os.WriteFile(name, packed.Bytes(), 0o644)
}

// unpack returns the files of an archive by their names in it.
func unpack(packed []byte) (map[string]file, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	all := map[string]file{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		all[header.Name] = file{header.Name, header.Mode, body}
	}
}

// writeSums writes the sums of files, which stand in the same folder.
func writeSums(name string, of []string) error {
	var text strings.Builder
	for _, path := range of {
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(body), filepath.Base(path))
	}
	return os.WriteFile(name, []byte(text.String()), 0o644)
}

// checkSums returns the files that a file of sums lists, by name, after it has compared their sums.
func checkSums(name string) (map[string][]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		sum, base, _ := strings.Cut(strings.TrimSpace(line), "  ")
		body, err := os.ReadFile(filepath.Join(filepath.Dir(name), base))
		if err != nil {
			return nil, err
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(body)); got != sum {
			return nil, fmt.Errorf("the sum of %s is %s, and %s says %s", base, got, filepath.Base(name), sum)
		}
		all[base] = body
	}
	return all, nil
}
