// Published makes the sets of results/published/ at one commit. `make published` calls it in the root of a
// clone, after make build and make services:
//
//	published [-work dist/sets] [-sets processes,services] [-dry]
//
// Runs and their histories are made below the folder -work, and archived there: the archives are assets of a
// release. As soon as a set is whole, its tables and report are copied to results/published/. The same call
// goes on after an interruption, and leaves out the sets that this commit made. With -dry it prints how many
// runs each set takes and how long, and makes none.
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
	calls [][]string // each call continues its earlier runs, or writes the file table
	table string     // file that a call writes; if it exists, the call is done; empty: no such file
	split string     // a flag: each call is made once for each value of it, and the tables are joined
	each  []string   // values of that flag; nil: all algorithms
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
		table: "matrix.csv", split: "--algo", calls: [][]string{{"matrix", "--seed", "1"}}},
	{name: "split-brain", about: "Every scheme of election, cut in two, on virtual time",
		table: "split-brain.csv", calls: [][]string{{"split-brain", "--simulated", "--seed", "1"}}},
	{name: "split-brain-processes", about: "Every scheme of election, cut in two, in processes",
		table: "split-brain.csv", calls: [][]string{{"split-brain", "--seed", "1"}}},
	{name: "services", about: "Lock services such as etcd, beside algorithms and locks of one machine",
		calls: [][]string{{"sweep", folder + "/services.yaml"}, {"sweep", folder + "/services-open.yaml"}}},
	{name: "failover", about: "How long services take until the next client enters after a fault",
		table: "failover.csv", split: "--only",
		each: []string{"etcd", "etcd-election", "etcd-raft", "lease", "nats-kv", "postgres", "redis", "redlock",
			"zookeeper"},
		calls: [][]string{{"matrix", "--failover", "--runs", "6"}}},
	{name: "known-failures", about: "Known failures of services, reproduced",
		table: "matrix.csv", calls: [][]string{{"matrix", "--services"}}},
}

func main() {
	work := flag.String("work", "dist/sets", "the `folder` of the runs")
	only := flag.String("sets", "", "only these sets, by `names` with commas between")
	dry := flag.Bool("dry", false, "print how many runs there are to make, and how long they take")
	flag.Parse()
	m := maker{work: *work}
	err := m.pick(*only)
	if err == nil {
		err = m.plan()
	}
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
	work   string
	sets   []set  // the sets to make
	commit string // the commit of the tree
}

const orchestrator = "bin/orchestrator"

// pick takes the named sets, or all. It leaves out sets in the tree that this commit made.
func (m *maker) pick(names string) error {
	algorithms, err := list()
	if err != nil {
		return err
	}
	if m.commit, err = head(); err != nil {
		return err
	}
	for name := range strings.SplitSeq(names, ",") {
		if name != "" && !slices.ContainsFunc(sets, func(s set) bool { return s.name == name }) {
			return fmt.Errorf("-sets: there is no set %q", name)
		}
	}
	for _, s := range sets {
		if names != "" && !slices.Contains(strings.Split(names, ","), s.name) {
			continue
		}
		readme, _ := os.ReadFile(filepath.Join(folder, s.name, "README.md"))
		if string(readme) == s.readme(m.commit) { // this commit made the set
			continue
		}
		if s.split != "" && s.each == nil {
			s.each = algorithms
		}
		m.sets = append(m.sets, s)
	}
	return nil
}

// plan prints how many runs are to be made, and how long that takes.
func (m *maker) plan() error {
	var runs int
	var takes time.Duration
	for _, s := range m.sets {
		var of planned
		for _, call := range s.calls {
			if s.table != "" && m.has(s.name, s.table) {
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
func list() (algorithms []string, err error) {
	out, err := exec.Command(orchestrator, "list", "--json").Output()
	if err != nil {
		return nil, fmt.Errorf("%s list: %w: build it with make build", orchestrator, err)
	}
	var rows []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(out, &rows); err != nil {
		return nil, err
	}
	for _, r := range rows {
		algorithms = append(algorithms, r.Name)
	}
	return algorithms, nil
}

// planned is the output of a call with --dry-run --json.
type planned struct {
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"`
}

// dryRun asks a call how many runs it would make. If a set is split, it leaves out the calls that are done.
func (m *maker) dryRun(s set, call []string) (p planned, err error) {
	call = append(slices.Clip(call), "--set", s.name, "--results", m.work, "--dry-run", "--json")
	if s.split != "" {
		left := slices.DeleteFunc(slices.Clone(s.each), func(of string) bool { return m.has(s.name, s.part(of)) })
		if len(left) == 0 {
			return p, nil
		}
		call = append(call, s.split, strings.Join(left, ","))
	}
	cmd := exec.Command(orchestrator, call...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return p, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return p, json.Unmarshal(out, &p)
}

// part returns the file that one call of a split set writes its part of the table to.
func (s *set) part(of string) string { return s.table + ".of-" + of }

// has reports whether a set below the folder of the work has a file.
func (m *maker) has(set, file string) bool {
	_, err := os.Stat(filepath.Join(m.work, set, file))
	return err == nil
}

// make makes the sets, and after each its archive and the copies in the tree.
func (m *maker) make() error {
	if err := m.begin(); err != nil {
		return err
	}
	for _, s := range m.sets {
		err := m.runsOf(s)
		if err == nil {
			err = m.publish(s)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// head returns the commit of the tree.
func head() (string, error) {
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	return strings.TrimSpace(string(out)), err
}

// begin returns an error if the tree has changes outside the published sets, or if another commit began the
// work.
func (m *maker) begin() error {
	out, err := exec.Command("git", "status", "--porcelain", "--", ".", ":!"+folder).Output()
	if err != nil {
		return err
	}
	if len(out) > 0 {
		return errors.New("the tree has uncommitted changes: commit them first")
	}
	file := filepath.Join(m.work, "commit")
	begun, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(m.work, 0o755); err == nil {
			err = os.WriteFile(file, []byte(m.commit+"\n"), 0o644)
		}
		return err
	}
	if is := strings.TrimSpace(string(begun)); err == nil && is != m.commit {
		err = fmt.Errorf("%s was begun by commit %s: check that out, or remove the folder to begin anew",
			m.work, is)
	}
	return err
}

// runsOf makes the missing runs of a set.
func (m *maker) runsOf(s set) error {
	if s.table != "" && m.has(s.name, s.table) && s.split == "" {
		return nil
	}
	for _, call := range s.calls {
		if s.split != "" {
			return m.parts(s, call)
		}
		if err := m.call(call, "--set", s.name); err != nil {
			return err
		}
	}
	return nil
}

// parts makes a call for each part of a set that is missing, and joins the tables.
func (m *maker) parts(s set, call []string) error {
	table := filepath.Join(m.work, s.name, s.table)
	var tables []string
	for _, of := range s.each {
		part := filepath.Join(m.work, s.name, s.part(of))
		if !m.has(s.name, s.part(of)) {
			err := m.call(call, "--set", s.name, s.split, of)
			if err == nil {
				err = os.Rename(table, part)
			}
			if err != nil {
				return err
			}
		}
		tables = append(tables, part)
	}
	return join(tables, table)
}

// call makes one call of the orchestrator. A violated or inconclusive run is not an error.
func (m *maker) call(args []string, more ...string) error {
	cmd := exec.Command(orchestrator, append(append(slices.Clip(args), more...), "--results", m.work)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	fmt.Printf("\n$ %s\n", strings.Join(cmd.Args, " "))
	err := cmd.Run()
	const judged = 3 // the highest exit status of a verdict
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
