// Published makes the sets of results/published/ by one commit. `make published` calls it in the root of a
// clone, after make build and make services:
//
//	published [-work dist/published] [-dry]
//
// Runs and their histories are made below the folder -work, and are archived there: those are assets of a
// release. When all sets are whole, their tables and reports are copied to results/published/. The same call
// goes on after an interruption. With -dry it prints how many runs each set takes and how long, and makes
// none.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A set is one published set, and the calls of the orchestrator that make its runs.
type set struct {
	name  string
	about string     // what its README says
	calls [][]string // each goes on with its earlier runs, or writes table
	table string     // a call writes it anew, and is over once it exists; empty: calls go on
	each  bool       // the call is made once for each algorithm, and the tables are joined
}

const folder = "results/published"

// sets are the published sets.
var sets = []set{
	{name: "processes", about: "Every sound algorithm of mutual exclusion in processes on one machine",
		calls: [][]string{{"sweep", folder + "/processes.yaml"}}},
	{name: "simulated", about: "The same on virtual time, up to 1,024 nodes",
		calls: [][]string{{"sweep", folder + "/simulated.yaml", "--simulated"}}},
	{name: "fault-matrix", about: "Every algorithm under every plan of faults, on virtual time",
		table: "matrix.csv", calls: [][]string{{"matrix", "--simulated", "--seed", "1"}}},
	{name: "fault-matrix-processes", about: "Every algorithm under every plan of faults, in processes",
		table: "matrix.csv", each: true, calls: [][]string{{"matrix", "--seed", "1"}}},
	{name: "split-brain", about: "Every scheme of election, cut in two, on virtual time",
		table: "split-brain.csv", calls: [][]string{{"split-brain", "--simulated", "--seed", "1"}}},
	{name: "split-brain-processes", about: "Every scheme of election, cut in two, in processes",
		table: "split-brain.csv", calls: [][]string{{"split-brain", "--seed", "1"}}},
	{name: "services", about: "Locks that people use, beside algorithms and locks of one machine",
		calls: [][]string{{"sweep", folder + "/services.yaml"}, {"sweep", folder + "/services-open.yaml"}}},
	{name: "failover", about: "How long services take until the next client enters after a fault",
		calls: [][]string{{"matrix", "--failover"}}},
	{name: "known-failures", about: "Known failures of services, reproduced",
		calls: [][]string{{"matrix", "--services"}}},
}

func main() {
	work := flag.String("work", "dist/published", "the `folder` of the runs")
	dry := flag.Bool("dry", false, "print how many runs there are to make, and how long they take")
	flag.Parse()
	m := maker{work: *work}
	err := m.plan()
	if err == nil && !*dry {
		err = m.make()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "published: %v\n", err)
		os.Exit(1)
	}
}

// A maker makes sets below a folder.
type maker struct {
	work       string
	algorithms []string // all, in the order of list
}

const orchestrator = "bin/orchestrator"

// plan prints how many runs are to be made, and how long that takes.
func (m *maker) plan() error {
	if err := m.list(); err != nil {
		return err
	}
	var runs int
	var takes time.Duration
	for _, s := range sets {
		var of planned
		for _, call := range s.calls {
			if s.table != "" && !s.each && m.has(s.name, s.table) {
				continue
			}
			p, err := m.dryRun(s, call)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			of.Runs, of.Seconds = of.Runs+p.Runs, of.Seconds+p.Seconds
		}
		lasts := time.Duration(of.Seconds * float64(time.Second))
		fmt.Printf("%-24s %7d runs  %8v\n", s.name, of.Runs, lasts.Round(time.Minute))
		runs, takes = runs+of.Runs, takes+lasts
	}
	fmt.Printf("%-24s %7d runs  %8.1f hours\n", "together, to be made", runs, takes.Hours())
	return nil
}

// list asks the orchestrator for its algorithms.
func (m *maker) list() error {
	out, err := exec.Command(orchestrator, "list", "--json").Output()
	if err != nil {
		return fmt.Errorf("%s list: %w: build it with make build", orchestrator, err)
	}
	var rows []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(out, &rows); err != nil {
		return err
	}
	for _, r := range rows {
		m.algorithms = append(m.algorithms, r.Name)
	}
	return nil
}

// planned is the output of a call with --dry-run --json.
type planned struct {
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"`
}

// dryRun asks a call how many runs it would make. If a set has one call for each algorithm, it leaves out the
// calls that are over.
func (m *maker) dryRun(s set, call []string) (p planned, err error) {
	call = append(slices.Clip(call), "--set", s.name, "--results", m.work, "--dry-run", "--json")
	if s.each {
		var left []string
		for _, a := range m.algorithms {
			if !m.has(part(s.name, a), s.table) {
				left = append(left, a)
			}
		}
		if len(left) == 0 {
			return p, nil
		}
		call = append(call, "--algo", strings.Join(left, ","))
	}
	cmd := exec.Command(orchestrator, call...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return p, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return p, json.Unmarshal(out, &p)
}

// part returns the set of one algorithm of a set.
func part(name, algorithm string) string { return name + "-of-" + algorithm }

// has reports whether a set below the folder of the work has a file.
func (m *maker) has(set, file string) bool {
	_, err := os.Stat(filepath.Join(m.work, set, file))
	return err == nil
}

// make makes all runs, and then the archives and the copies in the tree.
func (m *maker) make() error {
	commit, err := m.commit()
	if err != nil {
		return err
	}
	for _, s := range sets {
		if err := m.runsOf(s); err != nil {
			return err
		}
	}
	for _, s := range sets {
		if err := m.publish(s, commit); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// commit returns the commit of the tree. The tree must be clean, and the commit the one that began the work.
func (m *maker) commit() (string, error) {
	out, err := exec.Command("git", "status", "--porcelain").Output()
	if err == nil && len(out) > 0 {
		return "", errors.New("the tree has uncommitted changes: commit them first")
	}
	if err == nil {
		out, err = exec.Command("git", "rev-parse", "HEAD").Output()
	}
	if err != nil {
		return "", err
	}
	commit, file := strings.TrimSpace(string(out)), filepath.Join(m.work, "commit")
	begun, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(m.work, 0o755); err == nil {
			err = os.WriteFile(file, []byte(commit+"\n"), 0o644)
		}
		return commit, err
	}
	if is := strings.TrimSpace(string(begun)); err == nil && is != commit {
		err = fmt.Errorf("%s was begun by commit %s: check that out, or remove the folder to begin anew",
			m.work, is)
	}
	return commit, err
}

// runsOf makes the missing runs of a set.
func (m *maker) runsOf(s set) error {
	for _, call := range s.calls {
		if !s.each {
			if s.table == "" || !m.has(s.name, s.table) {
				if err := m.call(call, "--set", s.name); err != nil {
					return err
				}
			}
			continue
		}
		var tables []string
		for _, a := range m.algorithms {
			name := part(s.name, a)
			if !m.has(name, s.table) {
				if err := m.call(call, "--set", name, "--algo", a); err != nil {
					return err
				}
			}
			tables = append(tables, filepath.Join(m.work, name, s.table))
		}
		if err := join(tables, filepath.Join(m.work, s.name, s.table)); err != nil {
			return err
		}
	}
	return nil
}

// call makes one call of the orchestrator. A violated or inconclusive run is not an error.
func (m *maker) call(args []string, more ...string) error {
	cmd := exec.Command(orchestrator, append(append(slices.Clip(args), more...), "--results", m.work)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	fmt.Printf("\n$ %s\n", strings.Join(cmd.Args, " "))
	err := cmd.Run()
	const judged = 3 // the last status of a verdict
	if status := cmd.ProcessState.ExitCode(); err != nil && (status < 0 || status > judged) {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}

// join writes tables with the same columns as one.
func join(tables []string, to string) error {
	var all strings.Builder
	for i, path := range tables {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		head, rest, _ := strings.Cut(string(text), "\n")
		switch {
		case i == 0:
			all.WriteString(head + "\n")
		case !strings.HasPrefix(all.String(), head+"\n"):
			return fmt.Errorf("%s has other columns than %s", path, tables[0])
		}
		all.WriteString(rest)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(all.String()), 0o644)
}
