package bench

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/row"
	"turnstile/report/draw"
	"turnstile/results"
)

// job returns the job of the run that the folder stores, which another Turnstile may have made.
func (r *Record) job(folder *results.Folder) (*Job, error) {
	spec, err := catalog.Of(r.Options.Algorithm, r.Options.Config)
	if err != nil {
		return nil, r.lacking(err)
	}
	j, err := Draft(r.Options, spec, r.Simulated)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder.File(results.RunFile), r.lacking(err))
	}
	return j, nil
}

// lacking makes a results.LackError of an error, if it is one.
func (r *Record) lacking(err error) error {
	if !errors.As(err, new(*row.UnknownError)) && !errors.As(err, new(*nodes.OptionError)) {
		return err
	}
	return results.LackError{
		Err: fmt.Errorf("%w; %s, which made the run, has it", err, results.Maker(r.Versions))}
}

// aboutLeaders says which runs have the tables about leaders, by the name that their problem has for
// sections.
var aboutLeaders = map[string]bool{"elections": true}

// tables returns the tables of the run, as its first trials give them; those that could not be judged are
// missing.
func (r *Run) tables(trials int) []results.Table {
	first := *r
	first.Trials = slices.DeleteFunc(slices.Clone(r.Trials), func(t *Trial) bool { return t.Number > trials })
	s := first.Summary()
	text := ""
	for i := range s.Verdicts {
		text += s.VerdictText(i)
	}
	faults := []results.Table{results.FaultsTable(s.Faults),
		results.TableOf(results.TimelineFile, s.Timeline)}
	leaders := []results.Table{results.TableOf(results.BeliefsFile, s.Beliefs),
		results.TextTable(results.LedgerFile, draw.Ledger(r.Folder.Ref(), s.Ledgers()).File())}
	sizes := results.TableOf(results.SizesFile, s.Sizes)
	sizes.None = r.Config.Capacity() == 1
	resources := results.TableOf(results.ResourcesFile, s.Resources)
	resources.None = r.Record.Options.ResourceCount() == 1
	for i := range faults {
		faults[i].None = !r.Record.Options.Faulty()
	}
	for i := range leaders {
		leaders[i].None = !aboutLeaders[r.Problem.Sections]
	}
	rows := results.TableOf(results.RowsFile, s.Rows)
	messages := results.TableOf(results.MessagesFile, s.Messages)
	return slices.Concat([]results.Table{rows, messages, sizes, resources}, faults, leaders,
		results.LatencyTables(first.intervals()),
		[]results.Table{results.VerdictsTable(s.Verdicts), results.TextTable("verdict.txt", text)})
}

// save writes the record and the tables of the run, and keeps the digests of its tables. The record comes
// first, so that it never has fewer trials than the tables. These are written at once, since each waits for
// the disk.
func (r *Run) save() error {
	errs := []error{r.Folder.WriteYAML(r.Record)}
	r.digests = map[string]string{}
	tables := r.tables(len(r.Record.Trials))
	digests, failed := make([]string, len(tables)), make([]error, len(tables))
	var group sync.WaitGroup
	for i, t := range tables {
		group.Go(func() { digests[i], failed[i] = r.Folder.Write(t) })
	}
	group.Wait()
	errs = append(errs, failed...)
	for i, t := range tables {
		if !t.None {
			r.digests[t.Name] = digests[i]
		}
	}
	return errors.Join(errs...)
}

// end puts on record that the run is over, and the digests of its files. It saves them if no trial did.
func (r *Run) end() (err error) {
	if r.digests == nil {
		err = r.save()
	}
	r.Record.Status, r.Record.Digests = statusOver, r.digests
	return errors.Join(err, r.Folder.WriteYAML(r.Record), r.release())
}

// Changed returns the names of the files that are not as the run wrote them. A file that the run did not
// write counts too, if it would be read.
func (r *Record) Changed(folder *results.Folder) []string {
	files := []string{results.SizesFile, results.ResourcesFile, results.FaultsFile, results.TimelineFile,
		results.BeliefsFile}
	files = slices.AppendSeq(files, maps.Keys(r.Digests))
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files),
		func(name string) bool { return !r.hasChanged(folder, name) })
}

// hasChanged reports whether a file is not as the run wrote it. That is unknown until the run is over.
func (r *Record) hasChanged(folder *results.Folder, name string) bool {
	digest, err := folder.Digest(name)
	return len(r.Digests) > 0 && (err != nil || digest != r.Digests[name])
}

// An Audit compares the tables that a run stores with those that its histories give.
type Audit struct {
	Differences []results.Difference `json:"differences"`
	Remarks     []string             `json:"remarks"` // what is not compared, and changes that do not count
}

func (a *Audit) remark(format string, args ...any) {
	a.Remarks = append(a.Remarks, fmt.Sprintf(format, args...))
}

// Audit makes the tables of a run that was reopened, and compares them with the stored ones. stored is its
// record as it was read.
func (r *Run) Audit(stored *Record) *Audit {
	a := &Audit{Differences: []results.Difference{}, Remarks: []string{}}
	if stored.Unfinished() {
		a.remark("the tables are not compared: the run is unfinished, and they may lack trials")
		return a
	}
	judged := slices.IndexFunc(stored.Trials, func(t TrialRecord) bool { return t.Verdict == "" })
	if judged < 0 {
		judged = len(stored.Trials)
	}
	for _, t := range r.Trials {
		if t.Number > judged {
			break
		}
		if was, is := stored.Trials[t.Number-1].Verdict, t.Verdict.Outcome.String(); was != is {
			a.Differences = append(a.Differences, results.Difference{File: results.RunFile, Trial: t.Number,
				Column: "verdict", Stored: was, Made: is})
		}
	}
	var unjudged []int
	for _, u := range r.Unjudged {
		unjudged = append(unjudged, u.Trial)
		a.remark("the rows of trial %d are not compared, since it cannot be judged", u.Trial)
	}
	tables := map[string]bool{}
	for _, t := range r.tables(judged) {
		tables[t.Name] = true
		differences, remark := r.Folder.Compare(t, stored.Digests[t.Name], unjudged)
		a.Differences = append(a.Differences, differences...)
		if len(differences) > 0 && stored.Digests[t.Name] != "" && !stored.hasChanged(r.Folder, t.Name) {
			remark = fmt.Sprintf("%s is as Turnstile %s wrote it, which measures otherwise than this version",
				t.Name, stored.Versions["turnstile"])
		}
		if remark != "" {
			a.remark("%s", remark)
		}
	}
	for _, name := range stored.Changed(r.Folder) {
		if !tables[name] {
			a.remark("%s was changed after it was written; it is not in the histories", name)
		}
	}
	return a
}
