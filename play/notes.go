package play

import (
	"errors"
	"fmt"
	"strings"

	"turnstile/nodes/replay"
)

// A note is a comment in a schedule that is meant for the page. A line "# say: ..." is shown when the play
// stands there. A line "# ask: question | answer | answer" is a question, which hides the verdict and the
// next steps until it is answered; the answer that is right ends with an exclamation mark. Notes at the same
// step are one. A line "# title: ..." is the title of the whole.
type note struct {
	At      int      `json:"at"` // how many steps come before it
	Text    string   `json:"text"`
	Answers []string `json:"answers"` // none: nothing is asked
	Right   int      `json:"right"`   // the index of the right answer; -1: all are
}

// Words that begin a note, or the title.
const (
	wordSay   = "# say:"
	wordAsk   = "# ask:"
	wordTitle = "# title:"
)

// titleIn returns the title in the text of a schedule; empty: it has none.
func titleIn(text string) string {
	for line := range strings.Lines(text) {
		if title, is := strings.CutPrefix(strings.TrimSpace(line), wordTitle); is {
			return strings.TrimSpace(title)
		}
	}
	return ""
}

// readNotes reads the notes in the text of a schedule.
func readNotes(text string, schedule *replay.Schedule) (all []note, err error) {
	at := 0
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		for at < len(schedule.Steps) && schedule.Steps[at].Line <= i {
			at++
		}
		said, says := strings.CutPrefix(line, wordSay)
		asked, asks := strings.CutPrefix(line, wordAsk)
		switch {
		case says:
			all, err = addNote(all, note{At: at, Text: strings.TrimSpace(said), Answers: []string{}, Right: -1})
		case asks:
			var n note
			if n, err = readQuestion(asked); err == nil {
				n.At = at
				all, err = addNote(all, n)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return all, nil
}

// addNote adds a note, or its words to the note at the same step.
func addNote(all []note, n note) ([]note, error) {
	if len(all) == 0 || all[len(all)-1].At != n.At {
		return append(all, n), nil
	}
	last := &all[len(all)-1]
	if len(last.Answers) > 0 {
		return nil, errors.New("a question is the last note of a step: put a step before the next note")
	}
	n.Text = last.Text + " " + n.Text
	*last = n
	return all, nil
}

// readQuestion reads a question and its answers.
func readQuestion(text string) (note, error) {
	parts := strings.Split(text, "|")
	n := note{Text: strings.TrimSpace(parts[0]), Answers: []string{}, Right: -1}
	for i, part := range parts[1:] {
		answer, right := strings.CutSuffix(strings.TrimSpace(part), "!")
		if right {
			n.Right = i
		}
		n.Answers = append(n.Answers, strings.TrimSpace(answer))
	}
	if len(n.Answers) < 2 {
		return n, fmt.Errorf("a question has two answers or more: write %s question | right answer ! | answer",
			wordAsk)
	}
	return n, nil
}

// String writes the note as a line of a schedule.
func (n note) String() string {
	if len(n.Answers) == 0 {
		return wordSay + " " + n.Text
	}
	words := []string{wordAsk + " " + n.Text}
	for i, answer := range n.Answers {
		if i == n.Right {
			answer += " !"
		}
		words = append(words, answer)
	}
	return strings.Join(words, " | ")
}

// question returns the note at which the session stands, or nil.
func (s *Session) question() *note {
	for i := range s.notes {
		if s.notes[i].At == s.at {
			return &s.notes[i]
		}
	}
	return nil
}
