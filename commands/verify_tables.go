package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/shlex"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench/publish"
	"turnstile/bench/runs"
	"turnstile/bench/study"
	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/internal/proc"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes/foreign"
	"turnstile/option"
	setpage "turnstile/report/page"
	"turnstile/results"
)

// A tablesAudit is the check of a set with joined tables.
type tablesAudit struct {
	*publish.Audit
	Checked []string `json:"checked"`       // what was compared
	Unknown []string `json:"not_confirmed"` // what was not compared, and why
	set     *results.Set
	known   known
	program program // runs recorded commands again
	ours    bool    // this version made the set
	lacks   bool    // this version cannot tell which runs belong to the set
}

func (t *tablesAudit) differ(file, what string) {
	t.Differences = append(t.Differences, results.Difference{File: file, What: what})
}

// verifyTables checks a set whose tables are joined, and has no folders of runs.
func (c *verifyCall) verifyTables(ctx context.Context, a *app, set *results.Set) error {
	audit, err := publish.CheckTables(ctx, c.Table, set)
	if err != nil {
		return failure{fmt.Errorf("%s cannot be checked: %w", set.Path, err), check.Inconclusive.ExitCode()}
	}
	t := &tablesAudit{Audit: audit, set: set, known: c.known, program: a.program, Unknown: []string{}}
	if len(set.Runs) > 0 {
		t.Checked = append(t.Checked, fmt.Sprintf("the tables of %s with each other",
			english.Count(len(set.Runs), "run", "runs")))
	}
	sweeps, studies := t.grids()
	if !t.strange() {
		if err := t.pages(); err != nil {
			return failure{err, unwritten}
		}
	}
	if c.again {
		err := t.again(ctx, sweeps, c.sample)
		for _, m := range studies {
			err = cmp.Or(err, t.studyAgain(ctx, m))
		}
		if err != nil { // what was found so far is told
			t.Unknown, t.lacks = append(t.Unknown, "what the runs would show again: "+err.Error()), true
		}
	}
	if len(set.Runs) > 0 {
		t.Unknown = append(t.Unknown,
			"the verdicts of runs that are not made again, and figures that no other table has, since the "+
				"histories are not here")
	}
	return c.tellTablesOf(a, t)
}

// tellTablesOf prints what was found in a set with joined tables, and sets the exit status.
func (c *verifyCall) tellTablesOf(a *app, t *tablesAudit) error {
	switch {
	case len(t.Differences) > 0:
		a.status = check.Violated.ExitCode()
	case t.lacks:
		a.status = check.Inconclusive.ExitCode()
	}
	if c.json {
		return terminal.PrintJSON(a.stdout, t)
	}
	colors := terminal.PaletteFor(a.stdout)
	name := terminal.FromHere(t.set.Path)
	if len(t.Differences) > 0 {
		fmt.Fprintf(a.stdout, "%s from what it says that it has:\n", colors.Paint(terminal.Red, name+" DIFFERS"))
	} else {
		fmt.Fprintf(a.stdout, "%s: nothing that was compared in it differs\n", name)
	}
	const most = 50
	for i, d := range t.Differences {
		if i == most {
			fmt.Fprintf(a.stdout, "  and %d more\n", len(t.Differences)-most)
			break
		}
		fmt.Fprintf(a.stdout, "  %v\n", d)
	}
	for _, what := range t.Checked {
		fmt.Fprintf(a.stdout, "compared: %s\n", what)
	}
	for _, why := range distinct(t.Unknown) {
		fmt.Fprintf(a.stdout, "not confirmed: %s\n", why)
	}
	return nil
}

// grids compares the runs of the set with the runs that its recorded commands make. It returns the sweeps,
// and the other commands.
func (t *tablesAudit) grids() (sweeps []*sweepCall, studies []results.Making) {
	made, err := results.Makings(filepath.Dir(t.set.Path), filepath.Base(t.set.Path))
	switch {
	case err != nil:
		t.differ(results.SetFile, err.Error())
		return nil, nil
	case len(made) == 0:
		t.Unknown = append(t.Unknown, "the runs that belong to the set, nor what they would show again: it has no "+
			results.SetFile)
		return nil, nil
	}
	t.ours = !slices.ContainsFunc(made, func(m results.Making) bool {
		return m.Versions["turnstile"] != versions()["turnstile"]
	})
	rows, runs := map[string]*results.Row{}, 0
	for _, f := range t.set.Runs {
		if all, err := f.Rows(t.known.Table.OptionNames()...); err == nil && len(all) == 1 {
			rows[f.Name()] = &all[0]
		}
	}
	planned := map[string]study.Planned{}
	elsewhere := "" // why the settings of some runs are not known here; empty: all are known
	for i, m := range made {
		sweep, all, err := t.known.plannedBy(m)
		if errors.Is(err, errNoSweep) {
			studies = append(studies, m)
			t.cells(m)
			continue
		}
		if runs += m.Cells * m.Trials; err != nil {
			t.Unknown = append(t.Unknown, fmt.Sprintf("the runs of command %d in %s: %v", i+1, results.SetFile, err))
			t.lacks, elsewhere = true, "this program cannot tell which runs a command makes"
			continue
		}
		sweeps = append(sweeps, sweep)
		if len(sweep.refused) > 0 {
			elsewhere = "this program refuses some of them"
		}
		for _, p := range all {
			if planned[p.Name] = p; p.Job.Config.Options[foreign.ServiceOption] != "" {
				elsewhere = "some depend on the servers of the machine that made them"
			}
		}
		if elsewhere == "" && (m.Trials != sweep.Trials || m.Seed != sweep.Seed || m.Cells != len(sweep.Cells)) {
			t.differ(results.SetFile, fmt.Sprintf("command %d makes %d configurations with %d trials and seed %d, "+
				"and %d, %d and %d are on record", i+1, len(sweep.Cells), sweep.Trials, sweep.Seed, m.Cells,
				m.Trials, m.Seed))
		}
	}
	if len(studies) < len(made) {
		t.runsOf(made, planned, rows, runs, elsewhere)
	}
	return sweeps, studies
}

// runsOf compares the runs of the set with the planned ones or, if some depend on the machine, their number.
func (t *tablesAudit) runsOf(made []results.Making, planned map[string]study.Planned,
	rows map[string]*results.Row, runs int, elsewhere string) {
	named := slices.ContainsFunc(slices.Collect(maps.Keys(planned)),
		func(name string) bool { return rows[name] != nil })
	switch {
	case elsewhere != "":
		if len(t.set.Runs) != runs {
			t.differ(results.RowsFile, fmt.Sprintf("it has %s, and the commands of %s made %d",
				english.Count(len(t.set.Runs), "run", "runs"), results.SetFile, runs))
		}
		t.Checked = append(t.Checked,
			fmt.Sprintf("the number of runs with the %d that the commands of %s made", runs,
				results.SetFile))
		t.Unknown = append(t.Unknown, "the settings of the runs: "+elsewhere)
	case !named:
		t.Unknown = append(t.Unknown,
			fmt.Sprintf("which runs belong to the set: %s made them, and gave runs other names than this version",
				results.Maker(made[0].Versions)))
		t.lacks = true
	default:
		t.compareRuns(planned, rows)
		t.Checked = append(t.Checked,
			fmt.Sprintf("the runs with the %d that the commands of %s make, their settings "+
				"and seeds", runs, results.SetFile))
	}
}

// strange notes the algorithms of the set that this program lacks, and reports whether there are any: it can
// neither make their runs again nor draw them.
func (t *tablesAudit) strange() bool {
	var names []string
	version := ""
	for _, f := range t.set.Runs {
		rows, _ := f.Rows(t.known.Table.OptionNames()...)
		for i := range rows {
			options := rows[i].Options
			_, err := t.known.Find(rows[i].Algorithm)
			if err != nil && options[foreign.ServiceOption] == "" && options[foreign.CommandOption] == "" {
				names, version = append(names, rows[i].Algorithm), rows[i].Version
			}
		}
	}
	if names = distinct(names); len(names) > 0 {
		t.lacks = true
		t.Unknown = append(t.Unknown,
			fmt.Sprintf("the runs, the report and %s: this program lacks %s; the program that "+
				"made them, %s, has it", results.ReadmeFile, english.List(names), version))
	}
	return len(names) > 0
}

// cells compares the number of rows in the table of a study with the number of its cells on record.
func (t *tablesAudit) cells(m results.Making) {
	words := strings.Fields(m.Command)
	table := map[string]string{"matrix": results.MatrixFile, "split-brain": results.SplitBrainFile}[words[1]]
	if table == "" || strings.Contains(m.Command, "failover") { // some of its cells have several rows
		t.Unknown = append(t.Unknown, "which runs belong to the set: "+m.Command+" may leave some out")
		return
	}
	rows, err := t.set.RunsNamedIn(table)
	if err != nil {
		t.differ(table, err.Error())
	} else if len(rows) != m.Cells {
		t.differ(table, fmt.Sprintf("it has %d rows, and its command made %d cells", len(rows), m.Cells))
	} else {
		t.Checked = append(t.Checked, fmt.Sprintf("the number of rows in %s with that of its command", table))
	}
}

// compareRuns compares the rows of runs with the planned runs, by their names.
func (t *tablesAudit) compareRuns(planned map[string]study.Planned, rows map[string]*results.Row) {
	for _, name := range slices.Sorted(maps.Keys(planned)) {
		if rows[name] == nil {
			t.differ(results.RowsFile, fmt.Sprintf("the run %s is missing, or has not one row", name))
		}
	}
	for _, f := range t.set.Runs {
		p, is := planned[f.Name()]
		if !is {
			t.differ(results.RowsFile, fmt.Sprintf("the run %s belongs to no command of %s", f.Name(),
				results.SetFile))
			continue
		}
		if row := rows[f.Name()]; row != nil {
			t.compareAsked(f, row, p)
		}
	}
}

// compareAsked compares the settings and the seed in a row with those of a planned run.
func (t *tablesAudit) compareAsked(f *results.Folder, row *results.Row, p study.Planned) {
	asked := runs.AskedOf(p.Job)
	want := results.AsStored([]results.Row{{Asked: asked, Seed: p.Job.Seed}})[0]
	header, _ := f.Header(results.RowsFile)
	says := func(column, is, should string) {
		if slices.Contains(header, column) && is != should {
			t.differ(results.RowsFile, fmt.Sprintf("%s: %s is %q, and its command says %q", f.Name(), column, is,
				should))
		}
	}
	says("seed", fmt.Sprint(row.Seed), fmt.Sprint(want.Seed))
	says("kind", row.Kind, want.Kind)
	says("algorithm", row.Algorithm, want.Algorithm)
	says("nodes", fmt.Sprint(row.Nodes), fmt.Sprint(want.Nodes))
	for _, column := range option.Columns() {
		says(column.Name, row.Cell(column.Name), want.Cell(column.Name))
	}
	if fmt.Sprint(row.Options) != fmt.Sprint(want.Options) {
		t.differ(results.RowsFile, fmt.Sprintf("%s: the options are %v, and its command says %v", f.Name(),
			row.Options,
			want.Options))
	}
}

// errNoSweep is the error of a recorded command that makes its runs from no list of configurations.
var errNoSweep = errors.New("it is no sweep")

// plannedBy returns the runs that a recorded command makes.
func (k known) plannedBy(m results.Making) (*sweepCall, []study.Planned, error) {
	words, err := shlex.Split(m.Command)
	if err != nil || len(words) < 2 {
		return nil, nil, fmt.Errorf("%q is not a command of Turnstile", m.Command)
	}
	if words[1] != "sweep" {
		return nil, nil, errNoSweep
	}
	c := newSweep(k)
	cmd := &cobra.Command{Use: "sweep"}
	cmd.Flags().SetNormalizeFunc(oneFlag)
	c.addTo(cmd)
	oneValueEach(cmd.Flags())
	if err := cmd.ParseFlags(words[2:]); err != nil {
		return nil, nil, err
	}
	c.settings, c.Grid = settings{}, m.Grid
	cmd.Flags().Visit(func(f *pflag.Flag) { c.settings[f.Name] = source{rank: byFlag} })
	c.Setup.Results = os.TempDir()
	if err := c.resolve(cmd.Flags().Args()); err != nil {
		return nil, nil, err
	}
	all, err := c.Planned()
	return c, all, err
}

// pages compares the report, its pictures and README.md with those made from the tables.
func (t *tablesAudit) pages() error {
	dir, err := proc.TempDir("verify")
	if err != nil {
		return err
	}
	defer proc.RemoveTemp(dir)
	if _, err := t.known.writePage(t.set, dir); err != nil {
		return err
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		made, err := input.ReadFile(path, input.TableLimit)
		path, _ = filepath.Rel(dir, path)
		stored, missing := input.ReadFile(filepath.Join(t.set.Path, path), input.TableLimit)
		switch {
		case err != nil:
			return err
		case missing != nil:
			t.differ(path, "it is missing")
		case string(stored) != string(made):
			t.differ(path, "it is not what this version makes of the tables")
		}
		return nil
	})
	stray, _ := filepath.Glob(filepath.Join(t.set.Path, setpage.FiguresDir, "*"))
	for _, path := range stray {
		name := filepath.Join(setpage.FiguresDir, filepath.Base(path))
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.differ(name, "the report has no such picture")
		}
	}
	t.Checked = append(t.Checked, english.Count(files, "page and picture",
		"pages and pictures")+" with those made "+
		"from the tables")
	return err
}

// writePage writes the report and README.md of a set with joined tables into a folder.
func (k known) writePage(set *results.Set, dir string) (*setpage.Page, error) {
	name := publish.NameOf(set)
	p, err := setpage.Make(k.Table, set, name, setpage.Calls{Program: runs.Program, Runs: name,
		Command: runs.Program + " report " + terminal.ShellQuoted(name)}, setpage.Choice{})
	if err != nil {
		return nil, err
	}
	readme, err := publish.Readme(set)
	if err == nil {
		err = p.Write(dir)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, results.ReadmeFile), []byte(readme), 0o644)
	}
	return p, err
}

// again makes the simulated runs of sweeps again, or a sample of them, and compares every column of every
// table.
func (t *tablesAudit) again(ctx context.Context, sweeps []*sweepCall, sample int) error {
	made, left := 0, 0
	for _, s := range sweeps {
		if !s.simulated {
			all, err := s.Planned()
			if left += len(all); err != nil {
				return err
			}
			continue
		}
		count, err := t.sweepAgain(ctx, s, sample)
		if err != nil {
			return err
		}
		made += count
	}
	if made > 0 {
		t.Checked = append(t.Checked, fmt.Sprintf("every column of %s made again",
			english.Count(made, "simulated run", "simulated runs")))
	}
	switch {
	case left > 0:
		t.Unknown = append(t.Unknown, fmt.Sprintf("%s of processes: those never repeat exactly",
			english.Count(left, "run", "runs")))
	case made == 0 && len(sweeps) > 0:
		t.Unknown = append(t.Unknown, "what the runs would show again: no run was made again")
	}
	return nil
}

// sweepAgain makes the runs of a sweep again in a temporary folder, and compares them.
func (t *tablesAudit) sweepAgain(ctx context.Context, s *sweepCall, sample int) (made int, err error) {
	dir, err := proc.TempDir("again")
	if err != nil {
		return 0, err
	}
	defer proc.RemoveTemp(dir)
	s.Setup.Results, s.Setup.Set = dir, "again"
	planned, err := s.Planned()
	if err != nil {
		return 0, err
	}
	if sample > 0 && sample < len(planned) {
		rand.Shuffle(len(planned), func(i, j int) { planned[i], planned[j] = planned[j], planned[i] })
		planned = planned[:sample]
	}
	picked := map[string]bool{}
	for _, p := range planned {
		picked[p.Name] = true
	}
	s.Only = func(name string) bool { return picked[name] }
	if _, _, err := s.Prepare(); err != nil {
		return 0, err
	}
	if _, err := s.Make(ctx); err != nil {
		return 0, err
	}
	again := cmp.Or(results.OpenSet(dir, s.Setup.Set), &results.Set{})
	for _, f := range t.set.Runs {
		if !picked[f.Name()] {
			continue
		}
		of := again.Run(f.Name())
		if of == nil {
			return made, fmt.Errorf("the run %s could not be made again", f.Name())
		}
		t.compareTables(f, of)
		made++
	}
	return made, nil
}

// studyAgain makes the command of a simulated study again in a temporary folder, and compares its table, and
// the tables of its runs.
func (t *tablesAudit) studyAgain(ctx context.Context, m results.Making) error {
	words, err := shlex.Split(m.Command)
	if err != nil {
		return err
	}
	if why := notMadeAgain(words); why != "" {
		t.Unknown = append(t.Unknown, "what "+m.Command+" would show again: "+why)
		return nil
	}
	dir, err := proc.TempDir("again")
	if err != nil {
		return err
	}
	defer proc.RemoveTemp(dir)
	var says bytes.Buffer
	name := publish.NameOf(t.set)
	words = append(words[1:], "--results="+dir, "--set="+name, "--no-progress")
	status := run(context.WithValue(ctx, alone{}, true), t.program, words, io.Discard, &says)
	if ctx.Err() != nil || status > check.Overloaded.ExitCode() {
		return fmt.Errorf("%s, made again: %s", m.Command, cmp.Or(strings.TrimSpace(says.String()), "interrupted"))
	}
	for _, table := range results.StudyTables {
		stored, lacks := results.TableIn(t.set.Path, table)
		made, none := results.TableIn(filepath.Join(dir, name), table)
		if (lacks == nil) != (none == nil) {
			t.differ(table, "either the set has it, or the command made again, but not both")
		} else if lacks == nil {
			t.keep("", results.CompareCells(table, stored, made, "run"))
			t.Checked = append(t.Checked, "every column of "+table+" made again")
		}
	}
	again := cmp.Or(results.OpenSet(dir, name), &results.Set{})
	for _, f := range t.set.Runs {
		if of := again.Run(f.Name()); of != nil {
			t.compareTables(f, of)
		} else {
			t.differ(results.RowsFile, fmt.Sprintf("the run %s was not made again by %s", f.Name(), m.Command))
		}
	}
	if len(again.Runs) != len(t.set.Runs) {
		t.differ(results.RowsFile, fmt.Sprintf("it has %d runs, and %s makes %d", len(t.set.Runs), m.Command,
			len(again.Runs)))
	}
	return nil
}

// notMadeAgain says why the words of a recorded command are not run: the file that has them may be anybody's,
// so only studies on virtual time are made, of flags that settings.recorded writes; empty: they are run.
func notMadeAgain(words []string) string {
	simulated := false
	for _, word := range words[2:] {
		name, _, valued := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		switch {
		case !strings.HasPrefix(word, "--") || slices.Contains(notRecorded, name):
			return fmt.Sprintf("Turnstile does not record %q", word)
		case name == "simulated" && !valued:
			simulated = true
		}
	}
	switch {
	case words[1] != "matrix" && words[1] != "split-brain":
		return "only sweep, matrix and split-brain are made again"
	case !simulated:
		return "runs of processes never repeat exactly"
	}
	return ""
}

// keep keeps the differences of a table made again. A column that the table lacks is one only if this version
// made the set; older versions had fewer columns.
func (t *tablesAudit) keep(of string, all []results.Difference) {
	for _, d := range all {
		if d.LacksColumn() && !t.ours {
			t.Unknown = append(t.Unknown,
				fmt.Sprintf("the column %s of %s: an older version made the set without it",
					d.Column, d.File))
			continue
		}
		d.File = of + d.File
		t.Differences = append(t.Differences, d)
	}
}

// compareTables compares every table of a run with that of the run made again, except the version.
func (t *tablesAudit) compareTables(f, again *results.Folder) {
	for _, table := range results.SetTables {
		stored, is := f.Text(table)
		made, should := again.Text(table)
		if !is && (!should || table == results.TimelineFile || table == results.BeliefsFile) {
			continue // tables of a set lack the timeline, and beliefs that changed too often
		}
		if is != should {
			t.differ(f.Name()+", "+table, "either the set has it, or the run made again, but not both")
			continue
		}
		t.keep(f.Name()+", ", results.CompareCells(table, stored, made, "version", "run"))
	}
}
