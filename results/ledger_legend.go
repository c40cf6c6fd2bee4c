package results

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/judge/leadership"
)

// An item of the legend is a box and a text.
type item struct {
	text  string
	attrs []string
	low   bool // the box is a low bar
}

func (d *drawing) items() (all []item) {
	for i, id := range d.Leaders {
		if i == len(leaderColors)-1 && len(d.Leaders) > len(leaderColors) {
			all = append(all, item{"further nodes lead", []string{"fill", leaderColors[i][0]}, false})
			break
		}
		all = append(all, item{fmt.Sprintf("node %d leads", id), []string{"fill", leaderColors[i][0]}, false})
	}
	for _, state := range []struct {
		leadership.State
		item
	}{
		{leadership.Follows, item{"follows that leader", []string{"fill", "#777777", "fill-opacity",
			"0.55"}, true}},
		{leadership.KnowsNone, item{"knows of no leader",
			[]string{"fill", "#ffffff", "stroke", "#999999", "stroke-width", "0.5"}, true}},
		{leadership.Stopped, item{"stands still", []string{"fill", "url(#stopped)"}, false}},
		{leadership.Down, item{"down", []string{"fill", "#333333"}, false}},
	} {
		if d.has(state.State) {
			all = append(all, state.item)
		}
	}
	for _, apart := range []bool{false, true} {
		if slices.ContainsFunc(d.TwoLead, func(t Together) bool { return t.Apart == apart }) {
			hatch := map[bool]string{false: "url(#two)", true: "url(#apart)"}[apart]
			all = append(all, item{d.together(apart), []string{"fill", hatch, "fill-opacity", "0.45"}, false})
		}
	}
	if len(d.Faults) > 0 {
		all = append(all, item{"a fault", []string{"fill", faultColor}, false})
	}
	return all
}

// has reports whether a node that is shown was in a state at any time.
func (d *drawing) has(state leadership.State) bool {
	return slices.ContainsFunc(d.shown, func(id int) bool {
		return slices.ContainsFunc(d.Lanes[id], func(b BeliefRow) bool { return b.State == state })
	})
}

// ranges writes numbers, as in 1-3, 7.
func ranges(numbers []int) string {
	slices.Sort(numbers)
	var parts []string
	for i := 0; i < len(numbers); {
		first := numbers[i]
		for i++; i < len(numbers) && numbers[i] == numbers[i-1]+1; i++ {
		}
		part := strconv.Itoa(first)
		if last := numbers[i-1]; last > first {
			part += "-" + strconv.Itoa(last)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

const legendColumns = 5

func (d *drawing) legendHeight() float64 {
	rows := (len(d.items())+legendColumns-1)/legendColumns + len(d.remarks())
	return float64(rows) * pictureLine
}

// remarks are lines of text below the legend: what the faults are that only a number stands for, and what is
// not in the picture.
func (d *drawing) remarks() (lines []string) {
	var names []string
	numbers := map[string][]int{}
	for i := range d.Faults {
		f := &d.Faults[i]
		if d.bands[i] < 0 || d.named(i) {
			continue
		}
		if numbers[f.Fault] == nil {
			names = append(names, f.Fault)
		}
		numbers[f.Fault] = append(numbers[f.Fault], f.Number)
	}
	for _, name := range names[:min(mostRemarks, len(names))] {
		line := fmt.Sprintf("fault %s: %s", ranges(numbers[name]), name)
		if runes := []rune(line); len(runes) > mostRunes {
			line = string(runes[:mostRunes]) + "..."
		}
		lines = append(lines, line)
	}
	if left := d.leftOut(); left != "" {
		lines = append(lines, left)
	}
	return lines
}

// leftOut says what is not in the picture.
func (d *drawing) leftOut() string {
	var says []string
	if more := len(d.Lanes) - len(d.shown); more > 0 {
		says = append(says, fmt.Sprintf("%d nodes more are in %s", more, BeliefsFile))
	}
	if slices.Contains(d.bands, -1) {
		says = append(says, fmt.Sprintf("some faults are in %s alone", FaultsFile))
	}
	return strings.Join(says, "; ")
}

func (d *drawing) legend() {
	y := d.lanesEnd() + 2*pictureLine
	for i, item := range d.items() {
		x := pictureLeft + float64(i%legendColumns)*lanesWidth/legendColumns
		top, height := y+float64(i/legendColumns)*pictureLine, 12.0
		if item.low {
			d.p.Rect(x, top+4, 16, 4, "", item.attrs...)
		} else {
			d.p.Rect(x, top, 16, height, "", item.attrs...)
		}
		d.p.Text(x+21, top+10, item.text, "font-size", "11")
	}
	remarks := d.remarks()
	for i, says := range remarks {
		d.p.Text(pictureLeft, d.top+d.height()-6-pictureLine*float64(len(remarks)-1-i), says, "font-size", "11")
	}
}
