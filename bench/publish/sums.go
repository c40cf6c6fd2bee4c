package publish

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sums are the digests of files, by their paths below the folder, with slashes.
type sums map[string]string

// text returns the digests as sha256sum prints them, by path.
func (s sums) text() string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s  %s\n", s[path], path)
	}
	return b.String()
}

// readSums reads a list of digests. A path in it is one below the folder, and is there once.
func readSums(path string) (sums, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := sums{}
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		digest, name, found := strings.Cut(lines.Text(), "  ")
		b, err := hex.DecodeString(digest)
		switch {
		case !found, err != nil, len(b) != sha256.Size, strings.ToLower(digest) != digest:
			return nil, fmt.Errorf("line %d is no digest of a file, as sha256sum prints them", number)
		case !filepath.IsLocal(filepath.FromSlash(name)), filepath.ToSlash(filepath.Clean(name)) != name:
			return nil, fmt.Errorf("line %d names %q, which is no path below the folder", number, name)
		case s[name] != "":
			return nil, fmt.Errorf("line %d names %s again", number, name)
		}
		s[name] = digest
	}
	return s, lines.Err()
}

// digest returns the SHA-256 of a file.
func digest(ctx context.Context, path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, until{ctx, file}); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// An until is a reader that ends with an error when ctx is done.
type until struct {
	ctx context.Context
	io.Reader
}

func (u until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(b)
}

// walk lists the regular files below a folder, by their paths below it, and what is neither file nor folder.
func walk(folder string) (files, others []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(folder, path)
		if d.Type().IsRegular() {
			files = append(files, filepath.ToSlash(below))
		} else {
			others = append(others, filepath.ToSlash(below))
		}
		return err
	})
	return files, others, err
}
