package text

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/leadership"
	"turnstile/results"
)

// A ledgerPicture draws which leader each node believed in during a trial: one line per node.
type ledgerPicture struct {
	*results.Ledger
	columns int
	letters map[int]rune  // by leader whose number is above 9: the letter that stands for it
	used    map[rune]bool // the marks that occur in the picture
	terms   bool          // whether the picture shows terms
}

// drawnNodes is the greatest number of nodes in a picture.
const drawnNodes = 32

// The marks of a picture, besides the digit or letter of the leader that a node follows.
const (
	leadsMark    = '█'
	somebodyMark = '+'
	noneMark     = '·'
	stoppedMark  = '‖'
	downMark     = '×'
	moreMark     = '*'
	twoMark      = '!'
	apartMark    = '~'
)

// newLedgerPicture returns the picture of a ledger. The width includes the labels on the left.
func newLedgerPicture(l *results.Ledger, width int) *ledgerPicture {
	p := &ledgerPicture{Ledger: l, columns: width - gutter, letters: map[int]rune{}, used: map[rune]bool{}}
	letters := []rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	for _, id := range l.Leaders {
		if id >= 10 && len(letters) > 0 {
			p.letters[id], letters = letters[0], letters[1:]
		}
	}
	return p
}

// lines draws the picture without colours: the windows of faults, the line that marks times with two leaders,
// the lines of the nodes, and below them the axis and the legend.
func (p *ledgerPicture) lines() (windows []string, two string, lanes, below []string) {
	if p.End <= 0 {
		return nil, "", nil, nil
	}
	axis := &timeline{faults: p.Faults, end: p.End, stop: p.End, columns: p.columns}
	if len(p.TwoLead) > 0 {
		two = strings.TrimRight(fmt.Sprintf("%*s %s", gutter-1, "two lead", string(p.twoRow())), " ")
	}
	shown := p.Shown(drawnNodes)
	for _, id := range shown {
		lanes = append(lanes, fmt.Sprintf("%*s %s", gutter-1, fmt.Sprintf("node %d", id), string(p.lane(id))))
	}
	below = axis.scale()
	if more := len(p.Lanes) - len(shown); more > 0 {
		below = append(below, fmt.Sprintf("%*sand %s", gutter, "", english.Count(more, "more node", "more nodes")))
	}
	return axis.windows(), two, lanes, append(below, p.legend()...)
}

// namedFaults is the greatest number of faults that the legend names.
const namedFaults = 6

// during returns the first and the last column that overlap a span.
func (p *ledgerPicture) during(s results.Span) (first, last int) {
	column := func(at float64) float64 {
		return min(max(at/p.End*float64(p.columns), 0), float64(p.columns))
	}
	first = min(int(column(s.From)), p.columns-1)
	return first, max(first, int(math.Ceil(column(s.To)))-1)
}

// lane draws the line of one node. A column shows the state that lasted longest in its time. But if the node
// led at any time in it, the column shows that the node led.
func (p *ledgerPicture) lane(id int) []rune {
	row := []rune(strings.Repeat(" ", p.columns))
	most := make([]float64, p.columns)
	each := p.End / float64(p.columns)
	for i := range p.Lanes[id] {
		b := &p.Lanes[id][i]
		s, mark := b.Span(), p.mark(b)
		first, last := p.during(s)
		for c := first; c <= last; c++ {
			share := min(s.To, float64(c+1)*each) - max(s.From, float64(c)*each)
			if mark == leadsMark {
				share += p.End
			}
			if share > most[c] {
				row[c], most[c] = mark, share
			}
		}
	}
	for _, mark := range row {
		p.used[mark] = true
	}
	for i := range p.Lanes[id] {
		p.term(row, &p.Lanes[id][i])
	}
	return row
}

// term writes the term of a leader into its bar, if it fits.
func (p *ledgerPicture) term(row []rune, b *results.BeliefRow) {
	term, known := b.Term.Value()
	if b.State != leadership.Leads || !known {
		return
	}
	text := []rune(fmt.Sprintf("t%v", term))
	first, last := p.during(b.Span())
	if last-first < len(text)+1 || !slices.Equal(row[first:first+len(text)+2],
		[]rune(strings.Repeat(string(leadsMark), len(text)+2))) {
		return
	}
	copy(row[first+1:], text)
	p.terms = true
}

// mark returns the mark for the state of a node.
func (p *ledgerPicture) mark(b *results.BeliefRow) rune {
	switch b.State {
	case leadership.Leads:
		return leadsMark
	case leadership.Stopped:
		return stoppedMark
	case leadership.Down:
		return downMark
	case leadership.KnowsNone:
		return noneMark
	}
	leader, known := b.Leader.Value()
	letter := p.letters[int(leader)]
	switch {
	case !known:
		return somebodyMark
	case leader < 10:
		return '0' + rune(leader)
	case letter == 0: // the followed node never led in this time, or no letter is left
		return moreMark
	}
	return letter
}

// twoRow marks the columns in whose time two nodes led, and whether they led in different terms.
func (p *ledgerPicture) twoRow() []rune {
	row := []rune(strings.Repeat(" ", p.columns))
	for _, s := range p.TwoLead {
		first, last := p.during(s.Span)
		for c := first; c <= last; c++ {
			if mark := map[bool]rune{false: twoMark, true: apartMark}[s.Apart]; row[c] != twoMark {
				row[c], p.used[mark] = mark, true
			}
		}
	}
	return row
}

// legend explains the marks in the picture.
func (p *ledgerPicture) legend() []string {
	var words []string
	say := func(mark rune, says string) {
		if p.used[mark] {
			words = append(words, fmt.Sprintf("%c %s", mark, says))
		}
	}
	say(leadsMark, "leads")
	if p.terms {
		words = append(words, "t1: in term 1")
	}
	for digit := '0'; digit <= '9'; digit++ {
		if p.used[digit] {
			words = append(words, "a digit: follows that node")
			break
		}
	}
	for _, id := range p.Leaders {
		if letter := p.letters[id]; letter != 0 {
			say(letter, fmt.Sprintf("follows node %d", id))
		}
	}
	say(moreMark, "follows another node")
	say(somebodyMark, "follows somebody")
	say(noneMark, "knows of no leader")
	say(stoppedMark, "stands still")
	say(downMark, "down")
	if p.Terms {
		say(twoMark, "two lead in one term")
		say(apartMark, "two lead in different terms")
	}
	const unbroken = "\u00a0" // keeps a mark on the same line as the words after it
	texts := []string{strings.ReplaceAll(strings.Join(words, ","), " ", unbroken)}
	texts[0] = strings.ReplaceAll(texts[0], ",", ", ")
	texts = append(texts, p.faultNames()...)
	var lines []string
	for _, text := range texts {
		for _, line := range english.Wrap(text, p.columns) {
			lines = append(lines, strings.Repeat(" ", gutter)+strings.ReplaceAll(line, unbroken, " "))
		}
	}
	return lines
}

// faultNames explains the numbers of the faults.
func (p *ledgerPicture) faultNames() (texts []string) {
	alike := alikeFaults(p.Faults)
	for _, f := range alike[:min(namedFaults, len(alike))] {
		texts = append(texts, fmt.Sprintf("fault %s: %s", f.numbers.Short(), f.text))
	}
	if len(alike) > namedFaults {
		texts = append(texts, "and more, in "+results.FaultsFile)
	}
	return texts
}

// paintTwo colours the line that marks two leaders: amber if each had its own term, and otherwise red.
func (p *Report) paintTwo(line string) string {
	apart := string(apartMark)
	var painted strings.Builder
	for line != "" {
		end, color := strings.Index(line, apart), terminal.Red
		if end == 0 {
			end, color = len(line)-len(strings.TrimLeft(line, apart)), terminal.Yellow
		}
		if end < 0 {
			end = len(line)
		}
		painted.WriteString(p.palette.Paint(color, line[:end]))
		line = line[end:]
	}
	return painted.String()
}

// ledger draws which leader each node believed in, for the first trials.
func (p *Report) ledger(s *runs.Summary) {
	ledgers := s.Ledgers()
	for _, l := range ledgers[:min(drawnTrials, len(ledgers))] {
		windows, two, lanes, below := newLedgerPicture(l, p.width).lines()
		if len(lanes) == 0 {
			continue
		}
		p.printf("\n")
		if len(ledgers) > 1 {
			p.printf("trial %d\n", l.Trial)
		}
		for _, line := range windows {
			p.printf("%s\n", p.palette.Paint(terminal.Yellow, line))
		}
		if two != "" {
			p.printf("%s\n", p.paintTwo(two))
		}
		for _, line := range append(lanes, below...) {
			p.printf("%s\n", line)
		}
	}
	if more := len(ledgers) - drawnTrials; more > 0 {
		p.printf("\n%s has %s\n", results.BeliefsFile, english.Count(more, "more trial", "more trials"))
	}
	p.printf("\n")
}
