package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// most is how many bytes a program may have.
const most = 35_000_000

// check reads the files of a release again, checks them, and prints a summary.
func (r *release) check(out string) error {
	archives, err := checkSums(filepath.Join(out, sumsFile))
	if err != nil {
		return err
	}
	ran := false
	for _, p := range platforms {
		name := r.folder(p) + ".tar.gz"
		files, err := unpack(archives[name])
		if err == nil {
			fmt.Printf("%s: %s, %d files\n", filepath.Join(out, name), megabytes(len(archives[name])), len(files))
			err = r.checkFiles(p, files)
		}
		if err == nil && p.native() {
			ran = true
			err = r.runPrograms(p, files)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if !ran {
		fmt.Println("SKIPPED: none of these programs is for this machine, so that none was run")
	}
	return nil
}

func megabytes(bytes int) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// checkFiles checks that an archive has all required files, and checks its programs.
func (r *release) checkFiles(p platform, files map[string]file) error {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", licensesFile,
		bashFile, zshFile, fishFile, manFolder + "/orchestrator.1", manFolder + "/orchestrator-bench.1"} {
		if len(files[path.Join(r.folder(p), name)].body) == 0 {
			return fmt.Errorf("%s is missing or empty", name)
		}
	}
	for _, m := range modules {
		for _, name := range m.programs {
			f := files[path.Join(r.folder(p), name)]
			if err := checkProgram(p, f); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			fmt.Printf("  %-13s %s, static, stripped\n", name, megabytes(len(f.body)))
		}
	}
	return nil
}

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// checkProgram returns an error unless a program is of its platform, static, stripped and small, and contains
// no path of the machine that built it.
func checkProgram(p platform, f file) error {
	program, err := elf.NewFile(bytes.NewReader(f.body))
	if err != nil {
		return err
	}
	switch {
	case f.mode&0o111 != 0o111:
		return fmt.Errorf("its mode %o does not let every user execute it", f.mode)
	case program.Machine != machines[p.arch]:
		return fmt.Errorf("it is for %v", program.Machine)
	case len(f.body) >= most:
		return fmt.Errorf("it has %d bytes, and must have fewer than %d", len(f.body), most)
	case program.Section(".symtab") != nil || program.Section(".debug_info") != nil:
		return errors.New("it is not stripped")
	}
	for _, segment := range program.Progs {
		if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
			return errors.New("it is not static: it asks for a dynamic linker")
		}
	}
	build, err := buildinfo.Read(bytes.NewReader(f.body))
	if err != nil {
		return err
	}
	trimmed := false
	for _, s := range build.Settings {
		trimmed = trimmed || s.Key == "-trimpath" && s.Value == "true"
	}
	if !trimmed {
		return errors.New("it was built without -trimpath")
	}
	return nil
}

// runPrograms runs the programs of an archive, which find each other in one folder.
func (r *release) runPrograms(p platform, files map[string]file) error {
	scratch, err := os.MkdirTemp("", "turnstile-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	for _, m := range modules {
		for _, name := range m.programs {
			f := files[path.Join(r.folder(p), name)]
			if err := os.WriteFile(filepath.Join(scratch, name), f.body, 0o755); err != nil {
				return err
			}
		}
	}
	for _, call := range []struct{ words, says string }{
		{"orchestrator --version", r.version},
		{"services list", "redis"},
		{"orchestrator bench --algo ricart -n 2 --load sequential --entries 20", "no two were inside together"},
	} {
		words := strings.Fields(call.words)
		cmd := exec.Command(filepath.Join(scratch, words[0]), words[1:]...)
		cmd.Dir = scratch
		out, err := cmd.CombinedOutput()
		if err == nil && !strings.Contains(string(out), call.says) {
			err = fmt.Errorf("it does not say %q", call.says)
		}
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", call.words, err, out)
		}
		fmt.Printf("  %s: ok\n", call.words)
	}
	return nil
}
