package publish

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"turnstile/internal/input"
	"turnstile/results"
)

// archive writes a folder as a .tar.gz, in which it goes by a name: files by their paths, all of one time,
// and of no user.
func archive(ctx context.Context, w io.Writer, folder, name string, files []string, at time.Time) error {
	packed := gzip.NewWriter(w)
	out := tar.NewWriter(packed)
	for _, file := range slices.Sorted(slices.Values(files)) {
		from := filepath.Join(folder, filepath.FromSlash(file))
		if err := pack(ctx, out, from, path.Join(name, file), at); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), packed.Close())
}

// pack adds a file to an archive.
func pack(ctx context.Context, out *tar.Writer, from, name string, at time.Time) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: 0o644, ModTime: at}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(out, until{ctx, in})
	return err
}

// What an archive may have at most. A set that is larger has to be unpacked by hand.
const (
	mostEntries = 200_000
	mostBytes   = 64 << 30
	leastFree   = 64 << 20 // that is left on the disk
)

// IsArchive reports whether a path is that of an archive, by its name.
func IsArchive(path string) bool {
	return strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz")
}

// Unpack unpacks an archive into a new temporary folder, and returns the published folder in it. What is not
// as [Make] writes it is refused before anything is written: a path that leads out of the folder, a link, a
// name that is there twice, more than the disk holds. done removes the folder.
func Unpack(ctx context.Context, archive string) (folder string, done func() error, err error) {
	dir, err := os.MkdirTemp("", "turnstile-verify-")
	if err != nil {
		return "", nil, err
	}
	done = func() error { return os.RemoveAll(dir) }
	free, known := results.FreeBytes(dir)
	if !known {
		free = mostBytes
	}
	s := &survey{seen: map[string]bool{}, most: min(mostBytes, free-min(free, leastFree))}
	if err = eachEntry(ctx, archive, s.look); err == nil && s.root == "" {
		err = errors.New("it is empty")
	}
	if err == nil {
		err = eachEntry(ctx, archive, func(h *tar.Header, in io.Reader) error { return unpackOne(dir, h, in) })
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("%s: %w", archive, err), done())
	}
	return filepath.Join(dir, s.root), done, nil
}

// eachEntry reads an archive.
func eachEntry(ctx context.Context, archive string, do func(*tar.Header, io.Reader) error) error {
	file, err := input.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := gzip.NewReader(until{ctx, file})
	if err != nil {
		return fmt.Errorf("it is no .tar.gz, or was changed: %w", err)
	}
	for in := tar.NewReader(packed); ; {
		header, err := in.Next()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, io.LimitReader(packed, 1<<20)) // what is behind its end, and the checksum
		} else if err == nil {
			if err = do(header, in); err == nil {
				continue
			}
			return err
		}
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("it is cut off, or was changed: %w", err)
		}
		return err
	}
}

// A survey is what is known of an archive before it is unpacked.
type survey struct {
	root  string
	seen  map[string]bool
	bytes uint64
	most  uint64
}

// look refuses an entry that Make does not write.
func (s *survey) look(h *tar.Header, _ io.Reader) error {
	name := strings.TrimSuffix(h.Name, "/")
	root, _, below := strings.Cut(name, "/")
	switch {
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir:
		return fmt.Errorf("%q is neither a file nor a folder: such an archive is not unpacked", h.Name)
	case !filepath.IsLocal(name), path.Clean(name) != name, strings.Contains(name, `\`):
		return fmt.Errorf("%q leads out of its folder: such an archive is not unpacked", h.Name)
	case s.seen[name]:
		return fmt.Errorf("%q is in it twice: such an archive is not unpacked", h.Name)
	case !below && h.Typeflag == tar.TypeReg, s.root != "" && s.root != root:
		return fmt.Errorf("%q is not in one folder with all the others: it is no published set", h.Name)
	case len(s.seen) == mostEntries:
		return fmt.Errorf("it has more than %d files: unpack it by hand", mostEntries)
	case h.Size < 0, uint64(h.Size) > s.most-s.bytes:
		return fmt.Errorf("%q has %d bytes, and with it there would be more than %d MB, which is what may be "+
			"unpacked here: unpack it by hand, where there is space", h.Name, h.Size, s.most>>20)
	}
	s.root, s.seen[name] = root, true
	s.bytes += uint64(h.Size)
	return nil
}

// unpackOne writes an entry below a folder.
func unpackOne(dir string, h *tar.Header, in io.Reader) error {
	to := filepath.Join(dir, filepath.FromSlash(h.Name))
	if h.Typeflag == tar.TypeDir {
		return os.MkdirAll(to, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, in, h.Size)
	return errors.Join(err, out.Close())
}
