package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// isLog reports whether a file in the folder of a run is a log.
func isLog(name string) bool { return fileName.MatchString(name) && strings.HasSuffix(name, ".log") }

// filesIn lists the logs in a folder, without their digests, which take time.
func filesIn(folder string) (files []File, err error) {
	entries, err := os.ReadDir(folder)
	for i := 0; i < len(entries) && err == nil; i++ {
		if name := entries[i].Name(); isLog(name) && entries[i].Type().IsRegular() {
			var info os.FileInfo
			if info, err = entries[i].Info(); err == nil {
				files = append(files, File{Name: name, Bytes: info.Size()})
			}
		}
	}
	return files, err
}

// digest describes a file.
func digest(folder, name string) (File, error) {
	file, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		return File{}, err
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	return File{name, n, hex.EncodeToString(sum.Sum(nil))}, err
}

// digest returns the digest of a log of the run.
func (s *session) digest(o *order) (reply, error) {
	if !isLog(o.File) {
		return reply{}, s.agent.refuse(o, "%.40q is no log", o.File)
	}
	f, err := digest(s.trial(), o.File)
	return reply{Files: []File{f}}, err
}

// piece returns a piece of a log of the run.
func (s *session) piece(o *order) (reply, error) {
	if !isLog(o.File) {
		return reply{}, s.agent.refuse(o, "%.40q is no log", o.File)
	}
	file, err := os.Open(filepath.Join(s.trial(), o.File))
	if err != nil {
		return reply{}, err
	}
	defer file.Close()
	b := make([]byte, min(max(0, o.Length), longestPiece))
	n, err := file.ReadAt(b, o.Offset)
	if err != nil && err != io.EOF {
		return reply{}, fmt.Errorf("reading %s: %w", o.File, err)
	}
	return reply{Piece: b[:n]}, nil
}

// longestPiece is how much of a file goes into one message.
const longestPiece = 512 << 10
