package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/results"
)

// fakeSubject stands for a service's description.
func fakeSubject(_ context.Context, name string, words []string, n int) (*ServiceSubject, error) {
	options := map[string]string{}
	for _, word := range words {
		option, value, _ := strings.Cut(word, "=")
		options[option] = value
	}
	d := &foreign.Declaration{Safe: nodes.NoPause, Live: nodes.ServersUp, Grace: time.Second,
		Elects: name == "etcd-election"}
	s := &ServiceSubject{Config: foreign.ServiceConfig(nodes.Config{N: n}, name, options, d)}
	s.Servers = chaos.Servers{Service: name, Count: 3, Leads: true, Peers: true, Promotes: name == "redis",
		Recovers: 5 * time.Second}
	var err error
	s.Spec, err = foreign.Algorithm(s.Config)
	return s, err
}

// Plans about services depend only on the seed and their number, are valid runs, and their faults end.
func TestHuntsDrawRuns(t *testing.T) {
	h := &Hunt{Services: []string{"etcd", "redis", "etcd-election", "zookeeper"}, Subject: fakeSubject}
	h.Seed = 3
	kinds, long := map[string]bool{}, 0
	for number := range 60 {
		l, j, err := h.draw(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		again, _, _ := h.draw(t.Context(), number)
		if !reflect.DeepEqual(l.FaultTexts(), again.FaultTexts()) || !reflect.DeepEqual(l.With, again.With) {
			t.Errorf("plan %d is %v and then %v", number, l.FaultTexts(), again.FaultTexts())
		}
		if len(l.Faults) == 0 {
			t.Errorf("plan %d has no fault", number)
		}
		for i := range l.Faults {
			f := &l.Faults[i]
			kinds[effect.KindOf(f.Effect).Name()] = true
			if f.For > j.Servers.Recovers && l.Service != "etcd-election" {
				long++
			}
			if end := f.At + f.After + f.For; end > j.Duration*4/5+time.Second || !f.ForGood() && f.For == 0 {
				t.Errorf("plan %d: %v may last to the end of a run of %v", number, f, j.Duration)
			}
		}
		if l.Service == "redis" && l.Hold > time.Second/2 {
			t.Errorf("plan %d holds for %v", number, l.Hold)
		}
	}
	if long == 0 {
		t.Error("no plan has a server do nothing for longer than the others take to serve again")
	}
	for _, kind := range []string{"kill of servers", "pause of servers", "cut of servers", "drop-answer",
		"pause", "kill", "promote"} {
		if !kinds[kind] {
			t.Errorf("no plan has %s", kind)
		}
	}
}

// A hunt continues after the plans in its journal, ignores an incomplete line, and requires the same seed.
func TestHuntsGoOn(t *testing.T) {
	root := t.TempDir()
	open := func(seed uint64) *Hunt {
		h := &Hunt{Services: []string{"etcd"}, Plans: 3, Subject: fakeSubject}
		h.Seed, h.Setup = seed, runs.Setup{Results: root, Set: "set"}
		return h
	}
	h := open(1)
	if err := errors.Join(h.Read(), h.open()); err != nil {
		t.Fatal(err)
	}
	h.keep(&Hunted{Plan: 1, Service: "etcd", Class: HuntValid})
	h.file.WriteString(`{"plan":2,"cl`)
	h.file.Close()
	h = open(1)
	if err := errors.Join(h.Read(), h.open()); err != nil || len(h.Done) != 1 || h.Done[1] == nil {
		t.Fatalf("%v, %v", h.Done, err)
	}
	h.keep(&Hunted{Plan: 2, Service: "etcd", Class: HuntOutside})
	h.file.Close()
	if err := h.Read(); err != nil || len(h.Done) != 2 {
		t.Errorf("%v, %v", h.Done, err)
	}
	h = open(2)
	if err := h.Read(); err == nil || !strings.Contains(err.Error(), "--seed 1") {
		t.Errorf("with another seed: %v", err)
	}
	if text, _ := os.ReadFile(filepath.Join(root, "set", HuntFile)); strings.Count(string(text), "\n") != 3 {
		t.Errorf("the journal is\n%s", text)
	}
}

// A violation is a finding if all assumptions of the service held, and busy if the machine was overloaded.
func TestWhatIsAFinding(t *testing.T) {
	for name, c := range map[string]struct {
		finding check.Finding
		trouble string
		slept   time.Duration
		bound   bool // the processors were busy
		want    HuntClass
	}{
		"while the processors were busy": {finding: check.Finding{Outcome: check.Violated}, bound: true,
			want: HuntBusy},
		"valid":  {finding: check.Finding{Outcome: check.Valid}, want: HuntValid},
		"inside": {finding: check.Finding{Outcome: check.Violated}, want: HuntFinding},
		"on a late one": {finding: check.Finding{Outcome: check.Violated}, slept: time.Second,
			want: HuntBusy},
		"outside": {finding: check.Finding{Outcome: check.Violated, OutsideModel: true,
			Broken: nodes.NoPause}, want: HuntOutside},
		"blocked while a server is down": {finding: check.Finding{Outcome: check.Inconclusive, Expected: true,
			OutsideModel: true, Broken: nodes.ServersUp}, want: HuntOutside},
		"blocked after data was lost": {finding: check.Finding{Outcome: check.Inconclusive, Expected: true,
			OutsideModel: true, Broken: nodes.NoAmnesia}, want: HuntFinding},
		"nobody entered though most servers were there": {finding: check.Finding{Outcome: check.Inconclusive,
			Idle: true}, want: HuntFinding},
		"in doubt":      {finding: check.Finding{Outcome: check.Inconclusive, Doubted: true}, want: HuntBusy},
		"unknown":       {finding: check.Finding{Outcome: check.Inconclusive}, want: HuntInconclusive},
		"a client died": {trouble: "node 1 ended on its own", want: HuntFinding},
	} {
		one := c.finding
		record := runs.Record{Trials: []runs.TrialRecord{{Faults: []chaos.Fault{{}}}}}
		r := &runs.Run{Folder: &results.Folder{Path: t.TempDir()}, Record: record,
			Trials: []*runs.TrialResult{{Trouble: c.trouble,
				Verdict: check.Verdict{Outcome: one.Outcome, Findings: []check.Finding{one}}}}}
		if c.bound {
			r.Trials[0].Row.CPUBusy = figure.Number(1)
		}
		if class, _, says := judgeHunt(r, nil, c.slept); class != c.want {
			t.Errorf("%s: %s, not %s (%s)", name, class, c.want, says)
		}
	}
	if class, _, _ := judgeHunt(nil, errors.New("no port"), 0); class != HuntFinding {
		t.Errorf("a run that cannot be made: %s", class)
	}
}

// A falling fence number is found; equal ones and gaps are not.
func TestFencesThatFall(t *testing.T) {
	for fences, falls := range map[[3]uint64]bool{{1, 2, 3}: false, {1, 5, 5}: false, {4, 0, 5}: false,
		{4, 5, 1}: true, {4, 3, 5}: true} {
		f := &fenceFold{}
		for i, fence := range fences {
			f.Add(history.Event{Kind: history.Entered, At: int64(i), Fence: fence})
		}
		if (f.says != "") != falls {
			t.Errorf("%v: %q", fences, f.says)
		}
	}
}

// A falling fence number is a finding, unless data was lost or an assumption of the service was broken.
func TestFallsOutsideTheModel(t *testing.T) {
	for _, c := range []struct {
		broken, rests nodes.Assumption
		want          HuntClass
	}{
		{0, nodes.NoPause, HuntFinding},
		{nodes.ServersUp, nodes.NoPause, HuntFinding},
		{nodes.NoPause, nodes.NoPause | nodes.Timing, HuntOutside},
		{nodes.NoAmnesia, 0, HuntOutside},
	} {
		if class := classOfFencesFell(c.broken, c.rests); class != c.want {
			t.Errorf("%v broken, on which %v rests: %s, want %s", c.broken, c.rests, class, c.want)
		}
	}
}

// A finding is shrunk to the faults, options and load that it needs, though not every run shows it, within
// the allowed number of runs.
func TestHuntsShrinkFindings(t *testing.T) {
	var faults []chaos.Fault
	for _, text := range []string{"pause: 0, at: 1s, for: 100ms", "kill: server leader, at: 2s, for: 800ms",
		"cut: 1/servers, at: 1s, for: 20ms"} {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		faults = append(faults, f)
	}
	h := &Hunt{Tries: 60, Subject: fakeSubject}
	made := 0
	s := &huntShrinker{hunt: h, ctx: t.Context(), of: &Hunted{About: "progress"},
		line: ServiceLine{Service: "zookeeper", With: []string{"failed=kept", "session=3s"}, Nodes: 5,
			Hold: 10 * time.Millisecond, Think: time.Second, Duration: 8 * time.Second, Faults: faults},
		try: func(_ context.Context, _ string, l *ServiceLine, _ *bench.Job) *Hunted {
			made++
			one := &Hunted{Class: HuntValid}
			if text := fmt.Sprint(l.With, l.FaultTexts()); made%2 == 0 && strings.Contains(text, "failed=kept") &&
				strings.Contains(text, "kill server") && l.Duration > 3*time.Second {
				one.Class, one.About = HuntFinding, "progress"
			}
			return one
		}}
	if err := s.shrink(); err != nil {
		t.Fatal(err)
	}
	l := &s.line
	if len(l.Faults) != 1 || l.Faults[0].For > 400*time.Millisecond || len(l.With) != 1 || l.Nodes != 2 ||
		l.Think != 0 || l.Duration != 4*time.Second {
		t.Errorf("it is shrunk to %+v", l)
	}
	if s.shown != "1 of 3 runs of the whole plan show it again" || made > h.Tries || s.best == nil {
		t.Errorf("%s, after %d runs", s.shown, made)
	}
}
