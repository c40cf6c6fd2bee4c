package chaos

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
)

func TestCutsSeparateGroups(t *testing.T) {
	for text, want := range map[string]string{ // from row to column, 1 if messages are lost
		"0-1/2-3": "0011 0011 1100 1100",
		"0/1/2":   "0110 1010 1100 0000",
		"0,2/1":   "0100 1010 0100 0000",
		"0>1-2":   "0110 0000 0000 0000",
		"3>0-2":   "0000 0000 0000 1110",
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
		"":        "one group",
		"0-4":     "one group",
		"0/0":     "node 0 is in it twice",
		"0-2/2-4": "node 2 is in it twice",
		"0>1>2":   "from one group to one other",
		"a/b":     "is no cut: write 0-1/2-4",
		"2-1/0":   "is no cut",
		"0//1":    "is no cut",
		"-1/2":    "is no cut",
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

func TestFaultsFitTheRun(t *testing.T) {
	cut, _ := ParseCut("0/1")
	for _, test := range []struct {
		at, lasts, measured time.Duration
		want                string
	}{
		{0, time.Second, time.Second, ""},
		{time.Second, time.Second, 2 * time.Second, ""},
		{time.Second, time.Second, 1900 * time.Millisecond, "let the fault end by then, or measure for 2s"},
		{time.Second, 0, time.Minute, "lasts for some time"},
		{-1, time.Second, time.Minute, "begins at 0s or later"},
		{0, time.Second, 0, "ends by entries"},
	} {
		f := Fault{Cut: cut, At: test.at, For: test.lasts}
		err := f.Check(2, test.measured)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v in %v: %v, want %q", &f, test.measured, err, test.want)
		}
	}
}

// A cut loses what is taken while it lasts, and nothing else; and it goes to a node as JSON.
func TestCutsLoseWhatIsTakenWhileTheyLast(t *testing.T) {
	cut, _ := ParseCut("0>1")
	text, err := json.Marshal(Network{Faults: []Fault{{Cut: cut, At: time.Second, For: time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	var n Network
	if err := json.Unmarshal(text, &n); err != nil {
		t.Fatal(err)
	}
	s := n.Shaper(1)
	lost := func(from, to nodes.ID, at time.Duration) bool {
		return len(s.Shape(&nodes.Packet{From: from, To: to, At: int64(at)}, nil)) == 0
	}
	if lost(0, 1, 1500*time.Millisecond) {
		t.Error("a message is lost before the run has begun")
	}
	const begin = 5 * time.Second
	s.(nodes.Beginner).Begin(int64(begin))
	for _, test := range []struct {
		from, to nodes.ID
		at       time.Duration
		want     bool
	}{
		{0, 1, time.Second - 1, false}, {0, 1, time.Second, true}, {0, 1, 2*time.Second - 1, true},
		{0, 1, 2 * time.Second, false}, {1, 0, 1500 * time.Millisecond, false},
		{0, 2, 1500 * time.Millisecond, false},
	} {
		if got := lost(test.from, test.to, begin+test.at); got != test.want {
			t.Errorf("from %d to %d after %v it is lost: %v", test.from, test.to, test.at, got)
		}
	}
}
