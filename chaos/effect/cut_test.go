package effect

import (
	"strings"
	"testing"

	"turnstile/nodes"
)

func TestCutsSeparateGroups(t *testing.T) {
	for text, want := range map[string]string{ // from row to column, 1 if messages are lost
		"0-1/2-3": "0011 0011 1100 1100",
		"0/1/2":   "0110 1010 1100 0000",
		"0,2/1":   "0100 1010 0100 0000",
		"0>1-2":   "0110 0000 0000 0000",
		"3>0-2":   "0000 0000 0000 1110",

		"ring:0,2,1,3": "0100 1000 0001 0010",
		"grid:2":       "0001 0010 0100 1000",
	} {
		c, err := ParseCut(text)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for from := range nodes.ID(4) {
			row := ""
			for to := range nodes.ID(4) {
				row += map[bool]string{false: "0", true: "1"}[c.Separates(from, to)]
			}
			rows = append(rows, row)
		}
		if got := strings.Join(rows, " "); got != want || c.String() != text {
			t.Errorf("%s is written %v and separates\n%s, not\n%s", text, c, got, want)
		}
	}
}

func TestParseCutSaysWhatIsRight(t *testing.T) {
	for text, want := range map[string]string{
		"":         "is not a cut: write 0-1/2-4",
		"0-4":      "one group",
		"hodler":   "is not a cut",
		"ring:0,0": "lists each node once",
		"grid:1":   "has a side of 2 to 1000",
		"0/0":      "node 0 is in it twice",
		"0-2/2-4":  "node 2 is in it twice",
		"0>1>2":    "from one group to one other",
		"a/b":      "is not a cut: write 0-1/2-4",
		"2-1/0":    "is not a cut",
		"0//1":     "is not a cut",
		"-1/2":     "is not a cut",

		"host 0/host 0-1": "host 0 is in it twice",
		"host 0/host a":   "is not a cut",
		"host 0/":         "is not a cut",
	} {
		if _, err := ParseCut(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	c, _ := ParseCut("0/7")
	if err := c.Check(5); err == nil || !strings.Contains(err.Error(), "no node 7: they are 0 to 4") {
		t.Errorf("a cut of a node that is not there: %v", err)
	}
}

// Nodes of one part of a cut reach each other, and the same others.
func TestPartsOfACut(t *testing.T) {
	for _, text := range []string{"0-1/2-3", "0/1/2", "0>1-2", "ring:0,2,1,3", "grid:2", "holder"} {
		c, err := ParseCut(text)
		if err != nil {
			t.Fatal(err)
		}
		const victim = 2
		for a := range nodes.ID(5) {
			for b := range nodes.ID(5) {
				if c.Part(a, victim) != c.Part(b, victim) {
					continue
				}
				if c.Parts(a, b, victim) {
					t.Errorf("%s: %d and %d are of one part, and apart", text, a, b)
				}
				for other := range nodes.ID(5) {
					if other != a && other != b && c.Parts(a, other, victim) != c.Parts(b, other, victim) {
						t.Errorf("%s: %d and %d are of one part, and differ as to %d", text, a, b, other)
					}
				}
			}
		}
	}
}
