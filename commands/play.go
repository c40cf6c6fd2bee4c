package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/algorithms/catalog"
	"turnstile/bench/runs"
	"turnstile/internal/browser"
	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
	"turnstile/play"
	"turnstile/results"
)

const playHelp = `Open a page in the browser, in which one plays every algorithm by hand: click a message and
it arrives, click a node and it asks. The page is one file, play.html, beside this program. It fetches
nothing.

With an argument, the page opens with three nodes of an algorithm, with a scene for a lecture (deadlock;
docs/teaching.md has all), with a story that the program contains (maekawa-textbook/displaced), with a
schedule, as explore --save writes it, or with a stored run. RUN is the path of a run's folder, set/run, the
name of the run alone, or latest. A simulated run is made again, with the states of all nodes. A real run is
shown as it was recorded, without states: make it with bench --trace.

Exit status: 0, 2 if the run cannot be read, 64 bad usage.`

const playExample = `  orchestrator play
  orchestrator play raymond
  orchestrator play deadlock
  orchestrator play maekawa-textbook/displaced
  orchestrator play deadlock.txt --out deadlock.html
  orchestrator play latest`

// A playCall is one call of play.
type playCall struct {
	known
	root  string
	trial int
	out   string
	page  string // path of play.html
}

func playCommand(k known) Command {
	c := &playCall{known: k}
	return Command{
		Name:     "play [ALGORITHM | STORY | SCHEDULE | RUN]",
		Short:    "Play an algorithm by hand, in the browser",
		Help:     playHelp,
		Example:  playExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: c.complete,
		Check:    c.check,
		Run:      c.run,
	}
}

func (c *playCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	f.IntVar(&c.trial, "trial", 1, "show this trial of a run")
	f.StringVar(&c.out, "out", "", "`file` for the page, which is then written and not opened")
	noZero(f, "trial", "is not a trial: they count from 1")
	forOneCall(cmd, "trial", "out")
}

// complete completes the argument of play: an algorithm, a story or, as completeRun does, a run.
func (c *playCall) complete(cmd *cobra.Command, args []string, begun string) (refs []string,
	how cobra.ShellCompDirective) {
	refs, how = completeRun(cmd, args, begun)
	if len(args) == 0 {
		algorithms, _ := c.completeAlgorithm(cmd, args, begun)
		refs = slices.Concat(refs, algorithms, play.Scenes)
		for _, path := range catalog.Stories() {
			refs = append(refs, shortStory(path))
		}
	}
	return refs, how
}

// shortStory returns the name of a story by its path: its algorithm and file, as in raymond/moves.
func shortStory(path string) string {
	return filepath.Base(filepath.Dir(path)) + "/" + strings.TrimSuffix(filepath.Base(path), ".txt")
}

// check checks the flags, and that there is a page.
func (c *playCall) check(settings) (err error) {
	if c.out != "" {
		if err := checkWritable(c.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	c.page, err = findPage()
	return err
}

// pageFile is the name of the page.
const pageFile = "play.html"

// findPage returns the path of the page, which is beside this program.
func findPage() (string, error) {
	path := ownSibling(pageFile)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("there is no %s in %s, beside this program: make play builds it, and a release has "+
			"it", pageFile, filepath.Dir(path))
	}
	return path, nil
}

// run opens the page.
func (c *playCall) run(ctx context.Context, a *app) error {
	start := play.Start{}
	if len(a.args) > 0 {
		var err error
		if start, err = c.start(ctx, a, a.args[0]); err != nil {
			return err
		}
	}
	switch {
	case c.out != "":
		page, err := started(c.page, start)
		if err == nil {
			err = results.WriteFile(c.out, func(w io.Writer) error {
				_, err := io.Copy(w, bytes.NewReader(page))
				return err
			})
		}
		if err != nil {
			return failure{err, unwritten}
		}
		return nil
	case len(a.args) > 0:
		return openStarted(a, c.page, start)
	}
	open(a, c.page)
	return nil
}

// started returns a copy of the page that opens with a start.
func started(page string, start play.Start) ([]byte, error) {
	text, err := input.ReadFile(page, input.Limit)
	if err != nil {
		return nil, err
	}
	if text, err = play.WithStart(text, start); err != nil {
		return nil, fmt.Errorf("%s: %w", page, err)
	}
	return text, nil
}

// openStarted opens a copy of the page that opens with a start. The copy stays in the folder for temporary
// files, since nobody knows how long the browser needs it.
func openStarted(a *app, page string, start play.Start) error {
	text, err := started(page, start)
	if err != nil {
		return failure{err, unwritten}
	}
	file, err := os.CreateTemp("", "turnstile-play-*.html")
	if err != nil {
		return failure{err, unwritten}
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(file.Name())
		return failure{err, unwritten}
	}
	open(a, file.Name())
	return nil
}

// open opens a page in the browser, and prints its path.
func open(a *app, page string) {
	fmt.Fprintln(a.stdout, page)
	if err := browser.Open(page); err != nil {
		fmt.Fprintf(a.stderr, "orchestrator: %v: open this file in a browser\n", err)
	}
}

// start returns what the page opens with, given the argument.
func (c *playCall) start(ctx context.Context, a *app, ref string) (play.Start, error) {
	if is, err := isSchedule(ref); err == nil && is {
		text, err := input.Read(ref)
		if err != nil {
			return play.Start{}, err
		}
		return c.scheduled(ref, string(text))
	}
	if text, is, err := storyText(ref); err != nil || is {
		if err != nil {
			return play.Start{}, err
		}
		return c.scheduled(ref, text)
	}
	if algo, err := c.Find(ref); err == nil {
		s := replay.Schedule{Spec: algo, Config: nodes.Config{N: 3}}
		return c.scheduled(ref, s.String())
	}
	folder, err := results.Open(c.root, ref)
	if err != nil {
		if text, unread := input.Read(ref); unread == nil {
			return c.scheduled(ref, string(text)) // which says why it is no schedule
		}
		return play.Start{}, fmt.Errorf("%q is no algorithm, story or schedule, and %w", ref, err)
	}
	past, err := c.openPast(folder, c.trial)
	if err != nil {
		return play.Start{}, err
	}
	return c.recorded(ctx, a, past, folder.Ref())
}

// storyText returns the text of a story, by its path or its short name, or of a scene, by its name, if there
// is such a story or scene.
func storyText(ref string) (text string, is bool, err error) {
	if text, is = play.Scene(ref); is {
		return text, true, nil
	}
	paths := catalog.Stories()
	at := slices.IndexFunc(paths, func(path string) bool { return path == ref || shortStory(path) == ref })
	if at < 0 {
		return "", false, nil
	}
	story, found := catalog.Story(paths[at])
	if !found {
		return "", false, fs.ErrNotExist
	}
	defer story.Close()
	all, err := io.ReadAll(story)
	return string(all), true, err
}

// scheduled returns a start with a schedule that the page can play.
func (c *playCall) scheduled(name, text string) (play.Start, error) {
	if _, err := play.Open(text); err != nil {
		return play.Start{}, fmt.Errorf("%s: %w", name, err)
	}
	return play.Start{Schedule: text}, nil
}

// recorded returns a start with a stored run: its schedule if it was simulated and a schedule can tell all,
// and otherwise a film.
func (c *playCall) recorded(ctx context.Context, a *app, past *runs.Past, title string) (play.Start, error) {
	messages, _, err := past.Size(ctx)
	switch {
	case err != nil:
		return play.Start{}, failure{err, check.Inconclusive.ExitCode()}
	case messages > play.MostFilmed:
		return play.Start{}, fmt.Errorf("%s has %s messages, and the page takes up to %s: make a shorter run",
			title, english.Thousands(float64(messages)), english.Thousands(play.MostFilmed))
	case past.Simulated:
		schedule, err := past.Schedule(ctx)
		if err == nil {
			return c.scheduled(title, schedule.String())
		}
		fmt.Fprintf(a.stderr, "orchestrator: the run is shown without the states of its nodes: %v\n", err)
	case !past.Trace:
		return play.Start{}, fmt.Errorf("%s has only the latest messages of each node: make it again with bench "+
			"--trace, which keeps all", title)
	}
	x, err := past.Extract(ctx, section.Window{To: math.MaxInt64}, true)
	if err != nil {
		return play.Start{}, failure{err, check.Inconclusive.ExitCode()}
	}
	film, err := play.FilmOf(x, title, past.Fault)
	if err != nil {
		return play.Start{}, err
	}
	film.Verdict.Outcome, film.Verdict.Reason = past.Judged()
	_, err = play.Screen(film) // so that what the page would refuse is said here
	return play.Start{Film: film}, err
}

// playViolation opens the violation that an exploration has found, if --play asks for that.
func (c *exploreCall) playViolation(a *app, v *explore.Violation) error {
	if v == nil || !c.play {
		return nil
	}
	start, err := new(playCall).scheduled("--play", v.Schedule.String())
	if err != nil {
		return err
	}
	return openStarted(a, c.page, start)
}
