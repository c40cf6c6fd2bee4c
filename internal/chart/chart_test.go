package chart

import (
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pictures are one of each kind, with what is hard about it.
func pictures() map[string]Picture {
	var many []Series
	for i, n := range []string{"ricart-agrawala", "suzuki-kasami", "maekawa, quorums cyclic", "central",
		"raymond",
		"lamport & <co>", "naimi-trehel"} {
		s := Series{Name: n, Look: i}
		for _, x := range []float64{2, 3, 4, 8, 16, 32} {
			y := (x + 2) * float64(i+1)
			s.Points = append(s.Points, Point{x, y, y * 0.9, y * 1.1, i == 2})
			s.Band = append(s.Band, Point{X: x, Low: y * 0.8, High: y * (0.8 + 0.4*float64(i%2))})
		}
		many = append(many, s)
	}
	ns := []Tick{{2, "2"}, {3, "3"}, {4, "4"}, {8, "8"}, {16, "16"}, {32, "32"}}
	return map[string]Picture{
		"lines": (&Line{Alt: "lines", X: Axis{Label: "nodes", Log: true, At: ns},
			Y: Axis{Label: "messages per entry", Log: true}, Series: many}).Draw(),
		"steps": (&Line{Alt: "steps", X: Axis{Label: "time (s)"}, Y: Axis{Label: "entries per second"}, Steps: true,
			Windows: []Window{{1, 1.4, "1 cut"}, {1.5, 2, "2 kill"}}, Series: []Series{{Points: []Point{
				{X: 0, Y: 500}, {X: 1, Y: 0}, {X: 2, Y: 480}, {X: 3, Y: 510}}}}}).Draw(),
		"one": (&Line{Alt: "one point", X: Axis{Label: "nodes"}, Y: Axis{Label: "share"}, Series: []Series{{
			Points: []Point{{X: 4, Y: 0}}, Band: []Point{{X: 4, Low: 1, High: math.NaN()}}}}}).Draw(),
		"bars": (&Bars{Alt: "bars", Unit: Axis{Label: "entries per second"}, Bars: []Bar{{"ricart-agrawala", 1234.5,
			1200, 1300, false}, {"central", 300, 0, 0, true}, {"maekawa", 0, 0, 0, false}}}).Draw(),
		"heat": (&Heat{Alt: "heat", Columns: []string{"ricart-agrawala", "suzuki-kasami", "central"},
			Rows:   []string{"lost-token", "split-brain"},
			Cells:  [][]Cell{{{"L", 1, ""}, {"B", 3, ""}, {}}, {{"L|P|B", 4, ""}, {"-", 0, ""}, {"P", 2, ""}}},
			Legend: []Cell{{"L", 1, "recovers"}, {"B", 3, "all wait for ever"}}}).Draw(),
	}
}

// Pictures are well-formed, have all colors by their names and no number that is none. CHART_DIR keeps them,
// to be looked at.
func TestPicturesAreWellFormed(t *testing.T) {
	raw := regexp.MustCompile(`#[0-9A-F]{6}|NaN|Inf`)
	for name, p := range pictures() {
		file := p.File()
		for d := xml.NewDecoder(strings.NewReader(file)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if strings.Contains(file, "var(") || strings.Count(file, `fill="#`) < 3 {
			t.Errorf("the file of %s has colors that only browsers know", name)
		}
		if found := raw.FindString(p.Inline()); found != "" {
			t.Errorf("%s has %s", name, found)
		}
		if dir := os.Getenv("CHART_DIR"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, name+".svg"), []byte(file), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The names of all series are in the picture, and so are the units.
func TestPicturesNameWhatTheyShow(t *testing.T) {
	all := pictures()
	for name, words := range map[string][]string{
		"lines": {"lamport &amp; &lt;co&gt;", "naimi-trehel", "messages per entry", ">32<", "line: published"},
		"steps": {"1 cut", "2 kill", "time (s)", "fault in force"},
		"bars":  {"ricart-agrawala", "1,235", "entries per second"},
		"heat":  {"lost-token", "L|P|B", "all wait for ever"},
	} {
		for _, word := range words {
			if !strings.Contains(all[name].Inline(), word) {
				t.Errorf("%s does not say %s", name, word)
			}
		}
	}
}

// No label of an axis stands on another, and each is at a round number.
func TestLabelsStandApart(t *testing.T) {
	long := func(label string) float64 { return 7 * float64(len(label)) }
	for _, c := range []struct {
		axis     Axis
		from, to float64
	}{
		{Axis{}, 0, 1}, {Axis{}, 3, 4}, {Axis{}, -2, 5e6}, {Axis{Log: true}, 0.002, 9000}, {Axis{Log: true}, 3, 5},
		{Axis{}, 7, 7}, {Axis{At: []Tick{{1, "1"}, {1.01, "1.01"}, {9, "9"}}}, 1, 9},
	} {
		a := c.axis.within(c.from, c.to, 300, 45, long)
		end, labels := math.Inf(-1), 0
		for _, tick := range a.At {
			if tick.Label == "" {
				continue
			}
			x := a.share(tick.At) * 300
			if x-long(tick.Label)/2 < end {
				t.Errorf("%g to %g: %s stands on the label before", c.from, c.to, tick.Label)
			}
			end, labels = x+long(tick.Label)/2, labels+1
		}
		if labels < 2 {
			t.Errorf("%g to %g: the labels are %v", c.from, c.to, a.At)
		}
		if a.share(c.from) < 0 || a.share(c.to) > 1 {
			t.Errorf("%g to %g is not within %g to %g", c.from, c.to, a.Min, a.Max)
		}
	}
}

// A label of an axis that is long is smaller, and none is wider than a picture.
func TestLongLabelsAreSmaller(t *testing.T) {
	for words, smaller := range map[string]bool{"nodes": false, "share of waits that are as long at most": false,
		strings.Repeat("mean time ", 8): true} {
		style := Axis{Label: words}.labelStyle()
		if widthOf(style, words) > longestLabel+0.01 || style.Font.Size < 7 ||
			smaller != (style.Font.Size < textSize) {
			t.Errorf("%s has size %g, and is %g long", words, style.Font.Size, widthOf(style, words))
		}
	}
}
