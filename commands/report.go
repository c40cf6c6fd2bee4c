package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/compare"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	setpage "turnstile/report/page"
	"turnstile/results"
)

const reportHelp = `Write a report of a set: report.html, one file that needs no network and no script, and
the same as report.md, into the folder of the set or --out. It draws messages per entry against the
synchronization delay; messages, throughput and waits against the number of nodes; percentiles, fairness,
the fault matrix, leaders over time, elections and the effects of faults, as far as the set has such runs.
After the pictures it ranks the algorithms, and lists the settings, the machine and the commands of the runs.
Each picture is in the folder report beside it, as SVG; curves have their data beside them, as CSV.
Algorithms of a family have one color. Point at a curve or its name, or move to it by Tab: its published
range appears, and the other curves fade.

Only valid trials are ranked and drawn; the others are counted. docs/sets.md explains the report.

--picture makes only one picture and its data, from the stored runs: --out names the file, by default
NAME.svg in the working directory. Each picture of a report has the command that makes it below it. --algo,
--by, --log and --title choose what it shows. --picture timeline draws entries and waits over time with the
faults shaded, and --picture ledger who led; these two take a run, too.

SET is the name of a set, or the path of a folder of runs.

Exit status: 0 written, 2 no trial is valid or can be read, 64 bad usage, 74 if the report could not be
written.`

const reportExample = `  orchestrator report lan
  orchestrator report results/lan --out public
  orchestrator report lan --picture throughput --algo ricart,maekawa --log --out throughput.svg
  orchestrator report latest --picture timeline`

// A reportCall is one call of report.
type reportCall struct {
	known
	root, out, picture, title string
	setpage.Choice
}

func reportCommand(k known) Command {
	c := &reportCall{known: k}
	return Command{
		Name:     "report SET",
		Short:    "Write a report of a set of runs, as HTML and Markdown",
		Help:     reportHelp,
		Example:  reportExample,
		Options:  c.addTo,
		Args:     cobra.ArbitraryArgs,
		Complete: completeRunOrSet,
		Run:      c.run,
	}
}

func (c *reportCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	f.StringVar(&c.out, "out", "", "write it into this `folder` (default that of the set), or a\n"+
		"picture into this file")
	f.StringVar(&c.picture, "picture", "", "make only the picture of this `name`, as in throughput-1")
	f.StringSliceVar(&c.Algorithms, "algo", nil, "draw only these `algorithms`")
	f.StringVar(&c.By, "by", "", "draw a series for each value of this `column`, such as latency")
	f.BoolVar(&c.Log, "log", false, "draw curves on a logarithmic y axis, without zeros")
	f.StringVar(&c.title, "title", "", "write this `text` above the picture")
	forOneCall(cmd, "out", "picture", "algo", "by", "log", "title")
	completeWith(cmd, "by", compare.Columns(c.Table))
}

// run writes the report of the set that the arguments name.
func (c *reportCall) run(ctx context.Context, a *app) error {
	args := a.args
	set, err := reported(c, args)
	if err != nil {
		return err
	}
	name := filepath.Base(set.Path)
	program := terminal.Invoked()
	p, err := setpage.Make(c.Table, set, name, setpage.Calls{Program: program, Runs: name,
		Command: program + " report " + terminal.ShellQuoted(args[0])}, c.Choice)
	for _, d := range p.Damaged {
		fmt.Fprintln(a.stderr, d)
	}
	if errors.Is(err, setpage.ErrNoTrials) {
		return failure{fmt.Errorf("no trials of %s can be read, so that nothing can be reported", args[0]),
			check.Inconclusive.ExitCode()}
	}
	if err == nil && c.picture != "" {
		return c.draw(a, p)
	}
	if ctx.Err() != nil {
		return errInterrupted // it would end in the midst of writing
	}
	out := cmp.Or(c.out, set.Path)
	if err != nil {
		return err
	}
	if err = p.Write(out); err != nil {
		return failure{err, unwritten}
	}
	fmt.Fprintf(a.stdout, "%s\n%s\n%s in %s\n", terminal.FromHere(filepath.Join(out, setpage.HTMLFile)),
		terminal.FromHere(filepath.Join(out, setpage.MarkdownFile)),
		english.Count(p.Figures(), "picture", "pictures"),
		terminal.FromHere(filepath.Join(out, setpage.FiguresDir)))
	if p.Valid == 0 && len(set.Runs) > 0 {
		fmt.Fprintf(a.stderr, "no trial of %s is valid: the report compares and ranks nothing\n", args[0])
		a.status = check.Inconclusive.ExitCode()
	}
	return nil
}

// checkPictureFile checks that a picture can be written to the path that --out names.
func checkPictureFile(path string) error {
	if path != "" && filepath.Ext(path) != ".svg" {
		return fmt.Errorf("--out: a picture is SVG: name a file that ends in .svg, not %s; its data is put beside "+
			"it, as .csv", path)
	}
	return checkPicture("out", path)
}

// draw writes one picture of a page, and its data beside it.
func (c *reportCall) draw(a *app, p *setpage.Page) error {
	svg, data, found := p.Picture(c.picture, c.title)
	if !found {
		all := p.Pictures()
		if len(all) == 0 {
			return fmt.Errorf("--picture: the report of %s has no pictures: no trial is valid, and none has faults "+
				"or leaders", p.Name)
		}
		return fmt.Errorf("--picture: the report has no picture %q; it has %s", c.picture, strings.Join(all, ", "))
	}
	path := cmp.Or(c.out, c.picture+".svg")
	for file, text := range map[string]string{path: svg, strings.TrimSuffix(path, ".svg") + ".csv": data} {
		if err := writePicture(file, text); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.stdout, "%s\n%s\n", terminal.FromHere(path),
		terminal.FromHere(strings.TrimSuffix(path, ".svg")+".csv"))
	return nil
}

// reported returns the set to report on.
func reported(c *reportCall, args []string) (*results.Set, error) {
	switch len(args) {
	case 0:
		return nil, errors.New("name the set to report, as in report lan; runs lists the stored runs")
	case 1:
	default:
		return nil, fmt.Errorf("report takes one set, not %d; put runs into one set",
			len(args))
	}
	if c.picture != "" {
		if err := checkPictureFile(c.out); err != nil {
			return nil, err
		}
	} else if c.Algorithms != nil || c.By+c.title != "" || c.Log {
		return nil, errors.New("--algo, --by, --log and --title are about one picture: name it, as in " +
			"--picture throughput")
	} else if c.out != "" {
		if info, err := os.Stat(c.out); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("--out: %s is a file: name a folder", c.out)
		}
	}
	run, err := results.Open(c.root, args[0])
	if err == nil && c.picture != "" {
		return &results.Set{Path: run.Path, Runs: []*results.Folder{run}}, nil
	} else if err == nil {
		return nil, fmt.Errorf("%s is a run, and a report is about a set: name its set, %s, or a picture of the "+
			"run, as in --picture timeline", args[0], filepath.Base(filepath.Dir(run.Path)))
	}
	if path := results.PathOfJoined(c.root, args[0]); path != "" {
		if c.out == "" && c.picture == "" {
			return nil, fmt.Errorf("%s has tables with their report: add --out to write one elsewhere", args[0])
		}
		return results.OpenJoined(path)
	}
	if set := results.OpenSet(c.root, args[0]); set != nil {
		if c.out == "" && results.IsPublished(set.Path) {
			return nil, fmt.Errorf("%s was published with its report: add --out to write one elsewhere", args[0])
		}
		return set, nil
	}
	for _, path := range []string{filepath.Join(c.root, args[0]), args[0]} {
		if set := (&results.Set{Path: path}); set.HasMatrix() {
			return set, nil
		}
		if info, stat := os.Stat(path); stat == nil && info.IsDir() {
			return nil, fmt.Errorf("%s has no runs: make some with --set %s", path, filepath.Base(path))
		}
	}
	return nil, err
}
