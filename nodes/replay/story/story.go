// Package story reads and writes the stories of algorithms for tests: files with a schedule and, below it,
// the output of playing it.
//
// In such a file a line
//
//	---- replies are counted without regard to their sender
//
// begins the output of a mutant of the algorithm with this title. The output leaves out the lines that it
// shares with the first output of the file. A line of dashes alone begins the output of the algorithm itself.
// Assertions (in, none, leads, believes) are checked only for the algorithm itself.
package story

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// A Story is a file with a schedule and the output of playing it.
type Story struct {
	Schedule *replay.Schedule
	Titles   []string // of the forms (the algorithm or mutants of it); empty title: the algorithm
	Told     string   // all text below the schedule
	path     string
	text     string // the text of the schedule
}

// Read reads a story; find looks up its algorithm by name. The folder of the file must have this name.
func Read(path string, find func(name string) (*algorithm.Algorithm, error)) (*Story, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Story{path: path}
	if s.Schedule, err = replay.Parse(bytes.NewReader(b), find); err != nil {
		return nil, err
	}
	if folder := filepath.Base(filepath.Dir(path)); folder != s.Schedule.Spec.Name {
		return nil, fmt.Errorf("it is a schedule of %s, in the folder of %s", s.Schedule.Spec.Name, folder)
	}
	for line := range strings.Lines(string(b)) {
		if title, ok := strings.CutPrefix(line, "----"); ok {
			s.Titles = append(s.Titles, strings.TrimSpace(title))
		}
		if s.Titles == nil {
			s.text += line
		} else {
			s.Told += line
		}
	}
	return s, nil
}

// Play plays the schedule on a form: the algorithm of the schedule, or a mutant with the same messages.
func (s *Story) Play(form *algorithm.Algorithm) (*replay.Played, error) {
	schedule := *s.Schedule
	if schedule.Spec != form {
		schedule.Spec = form
		schedule.Steps = slices.DeleteFunc(slices.Clone(schedule.Steps), func(step replay.Step) bool {
			return step.What.States()
		})
	}
	return replay.Play(&schedule)
}

// Tell returns the output of all forms, as it should stand below the schedule. It calls play for each title.
// play returns the result of the form, the check that the form fails (empty if it fails no check), and the
// broken assumptions that put this failure outside its model.
func (s *Story) Tell(play func(title string) (r *replay.Played, check string, broken nodes.Assumption,
	err error)) (string, error) {
	var b strings.Builder
	var first []string // the story of the first form
	for _, title := range s.Titles {
		r, check, broken, err := play(title)
		if err != nil {
			return "", fmt.Errorf("%s: %w", title, err)
		}
		fmt.Fprintln(&b, strings.TrimSpace("---- "+title))
		same := 0
		for same < min(len(first), len(r.Story)) && first[same] == r.Story[same] {
			same++
		}
		if first == nil {
			first = r.Story
		} else {
			fmt.Fprintf(&b, "... %d lines as above\n", same)
		}
		if check == "progress" {
			check = replay.CheckDeadlock
		}
		b.WriteString(replay.Told(r.Story[same:], check, broken))
		for _, w := range r.Status.Waits {
			fmt.Fprintf(&b, "  %v\n", w)
		}
		b.WriteString(r.Status.InCircle())
	}
	return b.String(), nil
}

// Rewrite writes the file with a new output below the schedule.
func (s *Story) Rewrite(told string) error { return os.WriteFile(s.path, []byte(s.text+told), 0o644) }
