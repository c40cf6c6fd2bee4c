package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// A garbling is one change of a folder of files, such as a broken disk or a careless hand makes.
type garbling struct {
	file, kind, from uint8 // which file, what is done to it, and which other file has to do with it
	at, length       uint32
	value            uint64
}

// garblings are the kinds of changes. Each returns the bytes of a file, b, after it; from are those of
// another.
var garblings = []struct {
	does string
	do   func(g garbling, b, from []byte) []byte
}{
	{"a bit is flipped", func(g garbling, b, _ []byte) []byte {
		if at, _ := g.block(b); at < len(b) {
			b[at] ^= 1 << (g.value % 8)
		}
		return b
	}},
	{"a byte is another", func(g garbling, b, _ []byte) []byte {
		if at, _ := g.block(b); at < len(b) {
			b[at] += byte(1 + g.value%255)
		}
		return b
	}},
	{"it is cut off", func(g garbling, b, _ []byte) []byte { at, _ := g.block(b); return b[:at] }},
	{"it is empty", func(garbling, []byte, []byte) []byte { return nil }},
	{"a block is missing", func(g garbling, b, _ []byte) []byte {
		at, end := g.block(b)
		return slices.Delete(b, at, end)
	}},
	{"a block is there twice", func(g garbling, b, _ []byte) []byte {
		at, end := g.block(b)
		return slices.Insert(b, at, bytes.Clone(b[at:end])...)
	}},
	{"a block is zero", func(g garbling, b, _ []byte) []byte {
		at, end := g.block(b)
		clear(b[at:end])
		return b
	}},
	{"a block is noise", func(g garbling, b, _ []byte) []byte {
		at, end := g.block(b)
		r := rand.New(rand.NewPCG(g.value, 1))
		for i := at; i < end; i++ {
			b[i] = byte(r.Uint32())
		}
		return b
	}},
	{"there is more behind it", func(g garbling, b, from []byte) []byte {
		at, end := g.block(from)
		return append(b, from[at:end]...)
	}},
	{"a block is that of another file", func(g garbling, b, from []byte) []byte {
		at, end := g.block(b)
		copy(b[at:end], from[min(at, len(from)):])
		return b
	}},
	{"it is another file", func(_ garbling, _, from []byte) []byte { return from }},
	{"a number is another", func(g garbling, b, _ []byte) []byte {
		numbers := regexp.MustCompile(`[0-9]+`).FindAllIndex(b, -1)
		if len(numbers) == 0 {
			return b
		}
		n := numbers[int(g.at)%len(numbers)]
		return slices.Replace(b, n[0], n[1], strconv.AppendUint(nil, g.value%1000, 10)...)
	}},
}

// drawGarbling returns a change drawn at random.
func drawGarbling(r *rand.Rand) garbling {
	return garbling{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), r.Uint32(), r.Uint32(), r.Uint64()}
}

// block returns a piece of b. Half of all pieces begin within the first 4 KiB, where headers are.
func (g garbling) block(b []byte) (from, to int) {
	within := len(b)
	if g.at%2 == 0 {
		within = min(within, 4<<10)
	}
	if within == 0 {
		return 0, 0
	}
	from = int(g.at/2) % within
	return from, min(len(b), from+1+int(g.length%512))
}

// apply makes the change in the folder dir, and says what it was. What comes from another file comes from the
// same folder or from donor.
func (g garbling) apply(dir, donor string) (file, says string, err error) {
	paths, others := filesBelow(dir), filesBelow(donor)
	path := paths[int(g.file)%len(paths)]
	if g.kind%16 == 15 {
		return filepath.Base(path), path + ": it is missing", os.Remove(path)
	}
	do := garblings[int(g.kind)%len(garblings)]
	from := append(paths, others...)[int(g.from)%(len(paths)+len(others))]
	if i := slices.IndexFunc(others, func(other string) bool {
		return filepath.Base(other) == filepath.Base(path)
	}); i >= 0 && g.from%2 == 0 {
		from = others[i]
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	other, err := os.ReadFile(from)
	if err != nil {
		return "", "", err
	}
	says = fmt.Sprintf("%s: %s (%+v, of %s)", path, do.does, g, from)
	return filepath.Base(path), says, os.WriteFile(path, do.do(g, b, other), 0o644)
}

// filesBelow returns the files below dir. Those that verify reads are in it three times, so that they are
// changed more often than others.
func filesBelow(dir string) (paths []string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		paths = append(paths, path)
		if ext := filepath.Ext(path); ext == ".zst" || ext == ".log" || ext == ".yaml" {
			paths = append(paths, path, path)
		}
		return nil
	})
	return paths
}
