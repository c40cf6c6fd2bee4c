// Release writes the files of a release into a folder: one archive per platform, and SHA256SUMS. Then it
// reads them again and checks them. `make release` calls it in the root of a clone:
//
//	release -stamp FLAGS [-out dist]
//
// FLAGS are flags of the linker that name the commit. The version is that of the first heading of
// CHANGELOG.md. The same commit and the same version of Go give the same bytes, in any folder.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A release has the data that all its archives share.
type release struct {
	version string
	stamp   string    // flags of the linker that name the commit
	date    time.Time // date of the commit, which all files get
}

// platforms are the platforms of the archives.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}}

// A platform is an operating system and a processor, as Go names them.
type platform struct{ os, arch string }

// native reports whether programs of the platform run here.
func (p platform) native() bool { return p.os == runtime.GOOS && p.arch == runtime.GOARCH }

// folder returns the folder in which an archive has its files.
func (r *release) folder(p platform) string {
	return fmt.Sprintf("turnstile-%s-%s-%s", r.version, p.os, p.arch)
}

func main() {
	stamp := flag.String("stamp", "", "flags of the linker that name the commit")
	out := flag.String("out", "dist", "the folder to write into, from which earlier archives are removed")
	flag.Parse()
	r, err := newRelease(*stamp)
	if err == nil {
		err = r.write(*out)
	}
	if err == nil {
		err = r.check(*out)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// heading is a heading of the changelog, with its version.
var heading = regexp.MustCompile(`(?m)^## \[?([0-9]+\.[0-9]+\.[0-9]+)\b`)

func newRelease(stamp string) (*release, error) {
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	first := heading.FindSubmatch(changes)
	if first == nil {
		return nil, fmt.Errorf("CHANGELOG.md has no heading with a version, such as ## 0.1.0")
	}
	r := &release{version: string(first[1]), stamp: stamp, date: time.Unix(0, 0).UTC()}
	switch {
	case !strings.Contains(stamp, "commands.commit="):
		fmt.Fprintln(os.Stderr, "release: warning: git names no commit here, so the programs will name none")
		return r, nil
	case strings.Contains(stamp, "commands.changed=true"):
		fmt.Fprintln(os.Stderr, "release: warning: this tree differs from its commit, and the programs will say so")
	}
	seconds, err := exec.Command("git", "-c", "safe.directory=*", "log", "-1", "--format=%ct").Output()
	if err != nil {
		return nil, fmt.Errorf("asking git for the time of the commit: %w", err)
	}
	at, err := strconv.ParseInt(strings.TrimSpace(string(seconds)), 10, 64)
	r.date = time.Unix(at, 0).UTC()
	return r, err
}

// write makes the archives and their sums.
func (r *release) write(out string) error {
	shared, err := r.shared()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	earlier, _ := filepath.Glob(filepath.Join(out, "turnstile-*.tar.gz")) // fails only for a bad pattern
	for _, name := range earlier {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	var archives []string
	for _, p := range platforms {
		programs, err := r.build(p)
		if err != nil {
			return err
		}
		name := filepath.Join(out, r.folder(p)+".tar.gz")
		if err := pack(name, r.folder(p), append(programs, shared...), r.date); err != nil {
			return err
		}
		archives = append(archives, name)
	}
	return writeSums(filepath.Join(out, sumsFile), archives)
}

// shared returns the files that are the same on every platform.
func (r *release) shared() ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		body, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, body})
	}
	licenses, err := thirdParty()
	if err != nil {
		return nil, err
	}
	files = append(files, file{licensesFile, 0o644, licenses})
	completions, err := completions()
	if err != nil {
		return nil, err
	}
	pages, err := manPages(r)
	return append(append(files, completions...), pages...), err
}
