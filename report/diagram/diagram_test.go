package diagram

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/draw"
	"turnstile/internal/chance"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

var whole = section.Window{To: math.MaxInt64}

// simulated returns a simulated run of Ricart-Agrawala, and its messages.
func simulated(t *testing.T, n int, entries uint64) *spacetime.Extract {
	t.Helper()
	ricart, err := (catalog.Table{}).Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: ricart, Config: nodes.Config{N: n}})
	if err != nil {
		t.Fatal(err)
	}
	o := sim.Options{Stack: stack, Seed: 1, Entries: entries, Latency: time.Millisecond,
		Trace:    true,
		Workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(500 * time.Microsecond)}}
	f := spacetime.New(history.Header{Nodes: n}, stack, whole)
	if _, err := sim.Run(o, f); err != nil {
		t.Fatal(err)
	}
	f.Window.To = f.End
	return &f.Extract
}

// played plays a schedule.
func played(t *testing.T, text string) (*spacetime.Extract, *replay.Played) {
	t.Helper()
	schedule, err := replay.Parse(strings.NewReader("turnstile schedule 1\n"+text), catalog.Table{}.Find)
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.Play(schedule)
	if err != nil {
		t.Fatal(err)
	}
	f := spacetime.New(p.History.Header(), p.Stack, whole)
	p.History.Run(f)
	f.Window.To = f.End
	return &f.Extract, p
}

// holds checks that a picture is well-formed, that no element begins outside it, and that it has some words.
func holds(t *testing.T, picture string, words ...string) {
	t.Helper()
	width, height := 0.0, 0.0
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		e, is := token.(xml.StartElement)
		if !is || e.Name.Local == "pattern" {
			continue
		}
		for _, a := range e.Attr {
			x, err := strconv.ParseFloat(a.Value, 64)
			switch across := strings.HasPrefix(a.Name.Local, "x"); {
			case err != nil:
			case e.Name.Local == "svg" && a.Name.Local == "width":
				width = x
			case e.Name.Local == "svg" && a.Name.Local == "height":
				height = x
			case across && (x < 0 || x > width) || strings.HasPrefix(a.Name.Local, "y") && (x < 0 || x > height):
				t.Errorf("not in %g x %g: %v", width, height, e)
			}
		}
	}
	for _, word := range words {
		if !strings.Contains(picture, word) {
			t.Errorf("the picture does not say %s:\n%s", word, picture)
		}
	}
}

func TestPictures(t *testing.T) {
	x := simulated(t, 3, 5)
	picture, err := Draw(x, Options{Title: "Ricart-Agrawala & <others>"})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, picture, ">Ricart-Agrawala &amp; &lt;others&gt;<", "prefers-color-scheme:dark", ">node 2<",
		">request<", ">inside<", "request from node 0 to node 1, sent at 0s, handled at 1ms",
		"node 0, entry 1: asked at 0s, inside ")
	if again, _ := Draw(x, Options{Title: "Ricart-Agrawala & <others>"}); again != picture {
		t.Error("the picture is not the same again")
	}

	x, p := played(t, "algorithm naive-broadcast\nn 2\nreq 0; req 1; 0>1 request; 1>0 request\n"+
		"0>1 reply; 1>0 reply")
	if picture, err = Draw(x, Options{Title: p.Violation.Says, Played: true}); err != nil {
		t.Fatal(err)
	}
	holds(t, picture, ">inside together: nodes 0, 1<", ">violation<", ">steps 1 to 6: 4 messages", ">step<")

	x, _ = played(t, "algorithm bully\nn 3\ncampaign 0; drop 0>2 election; dup 0>1 election\n"+
		"0>1 election; crash 2\nsuspect 1>2; restart 2; rest")
	if picture, err = Draw(x, Options{Title: "A message is lost, one is copied, a node crashes", Played: true,
		Fault: func(uint32) string { return "none" }}); err != nil {
		t.Fatal(err)
	}
	holds(t, picture, "election from node 0 to node 2, sent at step 1, lost", ">crash<", ">restart<",
		">suspects 2<", ">down<", ">lost<")
}

// A page lights up the arrow of a message, and the bars of a node.
func TestArrowsAndBarsAreFound(t *testing.T) {
	x, _ := played(t, "algorithm ricart-agrawala\nn 3\nreq 0; 0>1 request; dup 0>2 request; rest")
	picture, err := Draw(x, Options{Played: true})
	if err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{`data-number="1"`: 1, `data-number="2"`: 2, `data-number="5"`: 1,
		`data-number="6"`: 0, `data-node="0"`: 2, `data-node="1"`: 0} {
		if n := strings.Count(picture, text); n != times {
			t.Errorf("%s is there %d times, not %d:\n%s", text, n, times, picture)
		}
	}
	x.Messages[0].Number = 0
	if picture, _ = Draw(x, Options{}); strings.Count(picture, "data-number=") != len(x.Messages)-1 {
		t.Errorf("a message without a number has one:\n%s", picture)
	}
}

// A kind of message looks the same, whatever other kinds a picture has.
func TestAKindHasOneLook(t *testing.T) {
	x, _ := played(t, "algorithm ricart-agrawala\nn 2\nreq 0; 0>1 request; 1>0 reply")
	x.Messages = x.Messages[1:]
	picture, err := Draw(x, Options{})
	in := func(kind int) int {
		return strings.Count(picture, fmt.Sprintf("stroke=%q ", draw.LookOfMessage(kind).Color))
	}
	if err != nil || in(0) != 0 || in(1) != 2 {
		t.Errorf("%v: the reply and its key have another color than %s:\n%s", err, draw.Looks[1].Color, picture)
	}
}

// A picture that would be too crowded is refused, and the window that the error suggests can be drawn.
func TestWhatIsTooLargeIsRefused(t *testing.T) {
	x := simulated(t, 5, 200)
	_, err := Draw(x, Options{})
	if err == nil || !strings.Contains(err.Error(), "--from ") {
		t.Fatalf("%v", err)
	}
	words := strings.Fields(strings.ReplaceAll(err.Error(), ",", ""))
	for i, word := range words {
		at := map[string]*int64{"--from": &x.Window.From, "--to": &x.Window.To}[word]
		if at == nil {
			continue
		}
		d, err := time.ParseDuration(words[i+1])
		if err != nil {
			t.Fatal(err)
		}
		*at = int64(d)
	}
	f := spacetime.Extract{Stack: x.Stack, Window: x.Window, End: x.End}
	for _, m := range x.Messages {
		if m.Sent <= x.Window.To && m.Over >= x.Window.From {
			f.Messages = append(f.Messages, m)
		}
	}
	if _, err := Draw(&f, Options{}); err != nil || len(f.Messages) < 10 {
		t.Errorf("%v with %d messages in %v", err, len(f.Messages), x.Window)
	}
	x = simulated(t, 61, 1)
	if _, err := Draw(x, Options{}); err == nil || !strings.Contains(err.Error(), "--nodes 0-5") {
		t.Errorf("61 nodes: %v", err)
	}
	x.Messages = nil
	if _, err := Draw(x, Options{Nodes: []nodes.ID{0, 3}}); err != nil {
		t.Errorf("two of 61 nodes: %v", err)
	}
}

func TestScaleKeepsOrderAndShortensIdleTime(t *testing.T) {
	s := newScale([]int64{0, 1e6, 2e6, 3e6, 5e9, 5e9 + 1e6}, 10, 640, 2400)
	for i := 1; i < len(s.places); i++ {
		if s.places[i] <= s.places[i-1] {
			t.Errorf("time %d is at %v, after %v", i, s.places[i], s.places[i-1])
		}
	}
	if len(s.cuts) != 1 || s.cuts[0] != 3 {
		t.Errorf("shortened are %v", s.cuts)
	}
	even := newScale([]int64{0, 10, 20, 30}, 0, 640, 2400)
	if len(even.cuts) > 0 || even.x(15) != even.right()/2 {
		t.Errorf("shortened are %v, the middle is at %v of %v", even.cuts, even.x(15), even.right())
	}
}

// The picture of a fenced run has the fence number of each entry, also where a bar is narrow, and marks a
// refused write.
func TestFencesAreDrawn(t *testing.T) {
	text := "fenced\nn 2\nreq 0; 0>2 request; 2>0 grant; req 1; 1>2 request; timeout 2 expiry; 2>1 grant\n" +
		"exit 1; exit 0" + strings.Repeat("; try exit 1", 80)
	x, _ := played(t, "algorithm central-lease\n"+text)
	picture, err := Draw(x, Options{Played: true})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, picture, ">entry 1, fence 1<", ">fence 2<", ">write refused<", ">write refused, since a higher",
		"inside from step 3 to step 9 under fence 1, write refused")
	x.Window.To = 5 * stepTime // before the write
	if picture, _ = Draw(x, Options{Played: true}); strings.Contains(picture, ">write refused") {
		t.Errorf("a write is refused before it was made:\n%s", picture)
	}
	x, _ = played(t, strings.Replace("algorithm central-lease\n"+text, "fenced\n", "", 1))
	if picture, _ = Draw(x, Options{}); strings.Contains(picture, "fence 2<") {
		t.Errorf("the resource demands no fence numbers, and they are drawn:\n%s", picture)
	}
}

// A node that stands still while its client is inside is hatched on top of the bar, and below its name.
func TestPausesAreSeenOnBars(t *testing.T) {
	x, _ := played(t, "algorithm central-lease\nn 2\nreq 0; 0>2 request; 2>0 grant; req 1; exit 0")
	x.Pauses = []section.Pause{{Process: 0, From: 3 * stepTime, To: 4 * stepTime}}
	picture, err := Draw(x, Options{Played: true})
	bar := strings.Index(picture, `data-node="0" fill="`+draw.Bad[1])
	hatched, name := strings.Index(picture, "<title>it stands still<"), strings.Index(picture, ">entry 1<")
	if err != nil || bar < 0 || bar > hatched || hatched > name {
		t.Errorf("%v: the bar is at %d, its hatches at %d, its name at %d:\n%s", err, bar, hatched, name, picture)
	}
}

func labels(ticks []draw.Tick) string {
	var all []string
	for _, t := range ticks {
		all = append(all, t.Label)
	}
	return strings.Join(all, ", ")
}

// Labels of the axis stand at round times, with their unit, also where idle time is shortened.
func TestTicksAreRound(t *testing.T) {
	var times, idle []int64
	for i := range int64(11) { // messages take 1 ms, and clients are inside for 100 µs
		times = append(times, 1_000_000_000+i*1_100_000, 1_000_000_000+i*1_100_000+1_000_000)
		idle = append(idle, i*1_003_217, 5_000_000_000+i*1_003_217)
	}
	for want, s := range map[string]*scale{
		"0 ms, 5 ms, 10 ms, 15 ms": newScale([]int64{0, 5e6, 10e6, 15e6}, 84, 200, 2400),
		"1000 ms, 1002 ms, 1003 ms, 1004 ms, 1005 ms, 1006 ms, 1007 ms, 1008 ms, 1009 ms, 1010 ms, " +
			"1011 ms": newScale(times, 84, 640, 2400),
		"0 ms, 2 ms, 4 ms, 6 ms, 8 ms, 10 ms, 5000 ms, 5002 ms, 5004 ms, 5006 ms, 5008 ms, 5010 ms": newScale(
			idle, 84, 640, 2400),
	} {
		if got := labels(s.ticks()); got != want {
			t.Errorf("the labels are %s, not %s", got, want)
		}
	}
}

// The labels of a schedule are the numbers of its steps: its beginning and its end are no steps.
func TestStepsAreNumbered(t *testing.T) {
	steps := func(count int64) *scale {
		var times []int64
		for i := range count + 2 {
			times = append(times, i*stepTime)
		}
		return newScale(times, 84, 640, 2400)
	}
	if got := labels(steps(6).steps(6)); got != "1, 2, 3, 4, 5, 6" {
		t.Errorf("the steps are %s", got)
	}
	got := labels(steps(120).steps(120))
	if !strings.HasPrefix(got, "2, 4, 6, ") || !strings.HasSuffix(got, "120") {
		t.Errorf("the steps are %s", got)
	}
}

// Arrows of one kind that begin or end at one place have one label together.
func TestABundleHasOneLabel(t *testing.T) {
	x, _ := played(t, "algorithm ricart-agrawala\nn 4\nreq 0; 0>1 request; 0>2 request; 0>3 request\n"+
		"1>0 reply; 2>0 reply; 3>0 reply; exit 0; req 1; 1>0 request")
	picture, err := Draw(x, Options{Played: true})
	if err != nil {
		t.Fatal(err)
	}
	// Beside the legend: the requests of nodes 0 and 1, and four replies, which neither begin nor end together.
	for text, times := range map[string]int{">request<": 3, ">reply<": 5} {
		if n := strings.Count(picture, text); n != times {
			t.Errorf("%s is there %d times, not %d:\n%s", text, n, times, picture)
		}
	}
}
