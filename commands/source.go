package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"turnstile/internal/input"
	"turnstile/results"
)

// sourcesOf returns the files of the program's own algorithms that runs of a set are about, by their names:
// the algorithms that Turnstile lacks. It is an error if a file cannot be found.
func (k known) sourcesOf(set *results.Set) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, f := range set.Runs {
		rows, err := f.Rows(k.Table.OptionNames()...)
		if err != nil {
			continue // the check of what is published names it
		}
		for i := range rows {
			algo, err := k.Find(rows[i].Algorithm)
			if err != nil || !k.Own(algo) {
				continue
			}
			makes := runtime.FuncForPC(reflect.ValueOf(algo.New).Pointer())
			path, _ := makes.FileLine(makes.Entry())
			name := filepath.Base(path)
			if files[name] != nil {
				continue
			}
			if files[name], err = readSource(path); err != nil {
				return nil, fmt.Errorf("the source of %s, which Turnstile lacks: %w", algo.Name, err)
			}
		}
	}
	return files, nil
}

// readSource reads a file by the path that the compiler has recorded: that of the file or, with -trimpath,
// that of its module and the file in it.
func readSource(path string) ([]byte, error) {
	if filepath.IsAbs(path) {
		return input.ReadFile(path, input.Limit)
	}
	build, _ := debug.ReadBuildInfo()
	below, is := strings.CutPrefix(path, build.Main.Path)
	if _, after, at := strings.Cut(below, "/"); is && at {
		below = after // behind a version, as in @v1.0.0
	}
	dir, err := os.Getwd()
	for ; is && err == nil; dir = filepath.Dir(dir) {
		text, missing := input.ReadFile(filepath.Join(dir, "go.mod"), input.Limit)
		if missing == nil && slices.Contains(strings.Split(string(text), "\n"), "module "+build.Main.Path) {
			return input.ReadFile(filepath.Join(dir, below), input.Limit)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return nil, errors.Join(err, fmt.Errorf("%s is not below here: publish in the folder of the module %s", path,
		build.Main.Path))
}
