package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A module has programs of the release.
type module struct {
	folder   string
	packages []string
	programs []string // as go build names them
}

// modules are the modules of the release. The election of Kubernetes is left out: its client takes minutes to
// build.
var modules = []module{
	{".", []string{"./cmd/orchestrator", "./cmd/node"}, []string{"orchestrator", "node"}},
	{"services", []string{"."}, []string{"services"}},
}

// build returns the programs for a platform. They are stripped: traces of panics need no table of symbols.
func (r *release) build(p platform) (files []file, err error) {
	fmt.Fprintf(os.Stderr, "building the programs for %s/%s\n", p.os, p.arch)
	scratch, err := os.MkdirTemp("", "turnstile-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	flags := strings.TrimSpace(r.stamp + " -s -w -X turnstile/commands.release=" + r.version)
	for _, m := range modules {
		args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", scratch + "/"}
		cmd := exec.Command("go", append(args, m.packages...)...)
		cmd.Dir, cmd.Env, cmd.Stderr = m.folder, environment(p), os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("building %s for %s/%s: %w", m.programs, p.os, p.arch, err)
		}
		for _, name := range m.programs {
			body, err := os.ReadFile(filepath.Join(scratch, name))
			if err != nil {
				return nil, err
			}
			files = append(files, file{name, 0o755, body})
		}
	}
	return files, nil
}

// environment returns the environment of a build. Settings of the user that change programs are left out.
func environment(p platform) []string {
	return append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off",
		"GOEXPERIMENT=", "GOFIPS140=off", "GOAMD64=v1", "GOARM64=v8.0")
}

// licensesFile holds the licenses of the libraries that the programs contain, as these licenses demand.
const licensesFile = "THIRD-PARTY-LICENSES"

// thirdParty returns the text of licensesFile. Libraries with the same license share one copy of it.
func thirdParty() ([]byte, error) {
	of := map[string][]string{} // libraries, by their license
	for _, m := range modules {
		for _, p := range platforms {
			libraries, err := m.libraries(p)
			if err != nil {
				return nil, err
			}
			for name, folder := range libraries {
				text, err := license(folder)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				if !slices.Contains(of[text], name) {
					of[text] = append(of[text], name)
				}
			}
		}
	}
	var parts []string
	for text, names := range of {
		slices.Sort(names)
		parts = append(parts, strings.Join(names, "\n")+"\n\n"+strings.TrimSpace(text)+"\n")
	}
	slices.Sort(parts)
	rule := strings.Repeat("-", 80) + "\n"
	return []byte("The programs of this release contain the libraries below, and the standard library of Go,\n" +
		"whose license is that of golang.org/x/sys.\n\n" + rule + strings.Join(parts, rule)), nil
}

// libraries returns the modules of others that the programs contain, and their folders.
func (m module) libraries(p platform) (map[string]string, error) {
	const format = `{{with .Module}}{{if and (not .Main) (ne .Path "turnstile")}}` +
		`{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", format}, m.packages...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = m.folder, environment(p), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the libraries of %s: %w", m.folder, err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, folder, is := strings.Cut(strings.TrimSpace(line), "\t"); is {
			all[name] = folder
		}
	}
	return all, nil
}

// license returns the license texts of a library, which have to be passed on with it.
func license(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(e.Name()), ".TXT"), ".MD")
		if e.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, name) {
			continue
		}
		body, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return "", err
		}
		text.Write(append(bytes.TrimSpace(body), "\n\n"...))
	}
	if text.Len() == 0 {
		return "", errors.New("it has no license")
	}
	return text.String(), nil
}
