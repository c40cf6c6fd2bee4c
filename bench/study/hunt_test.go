package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/bench/service"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
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
		Elects: name == "etcd-election", Terms: name == "etcd-election", Cancels: name == "redis", Leaves: true}
	s := &ServiceSubject{Config: foreign.ServiceConfig(nodes.Config{N: n}, name, options, d)}
	s.Servers = chaos.Servers{Service: name, Count: 3, Leads: true, Peers: true, Promotes: name == "redis",
		Deletes: true, Queues: true, Expires: true, Recovers: 5 * time.Second}
	if name == "redis" {
		s.Holds = time.Second
	}
	var err error
	s.Spec, err = foreign.Algorithm(s.Config)
	return s, err
}

// fakeDraws are the options of the fake services.
func fakeDraws(string) []service.Draw {
	return []service.Draw{{Name: "ttl", Default: "2s", Values: []string{"1s", "3s"}},
		{Name: "obey", Default: "on", Values: []string{"on", "off"}, Fixed: true},
		{Name: "lag", Default: "0s", Values: []string{"0s", "1s"}}}
}

// Plans about services depend only on the seed and their number, are valid runs, and their faults end.
func TestHuntsDrawRuns(t *testing.T) {
	h := &Hunt{Services: []string{"etcd", "redis", "etcd-election", "zookeeper"}, Subject: fakeSubject,
		Draws: fakeDraws}
	h.Seed = 3
	kinds, long, together, cancels := map[string]bool{}, 0, 0, 0
	words := map[string]bool{}
	for number := range 120 {
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
		for _, word := range l.With {
			words[word] = true
		}
		for i := range l.Faults {
			f := &l.Faults[i]
			kinds[effect.KindOf(f.Effect).Name()] = true
			kinds["with amnesia"] = kinds["with amnesia"] || effect.Forgets(f.Effect)
			if l.Service == "etcd-election" && i == 0 && !f.Timed() && !f.ByRun() {
				t.Errorf("plan %d: %v waits for a change of leaders that nothing causes", number, f)
			}
			if f.For > j.Servers.Recovers && l.Service != "etcd-election" {
				long++
			}
			end := f.At + f.After + f.For
			if l.Service == "etcd-election" { // nothing explains a failure at its end
				end += f.Leaves() + j.Spec.GraceOf(j.Options.Config)
			}
			if end+huntLease > j.Duration || !f.ForGood() && f.For == 0 {
				t.Errorf("plan %d: %v may last to the end of a run of %v", number, f, j.Duration)
			}
			if i > 0 && f.At > l.Faults[i-1].At && f.At < l.Faults[i-1].At+l.Faults[i-1].For {
				together++
			}
		}
		if l.CancelAfter > 0 {
			cancels++
		}
		if l.Service == "redis" && l.Hold > time.Second*6/10 {
			t.Errorf("plan %d holds for %v", number, l.Hold)
		}
	}
	if long == 0 || together == 0 {
		t.Errorf("in %d plans a server does nothing for longer than the others take to serve again, and in %d "+
			"a fault begins while another lasts", long, together)
	}
	if cancels == 0 {
		t.Error("in no plan a client gives up")
	}
	if len(words) != 3 || words["obey=off"] {
		t.Errorf("the options are %v: each but the defaults is drawn, and no client ignores a loss", words)
	}
	for _, kind := range []string{"kill of servers", "pause of servers", "cut of servers", "drop-answer",
		"pause", "kill", "promote", "hold-request", "delete", "expire", "with amnesia"} {
		if !kinds[kind] {
			t.Errorf("no plan has %s", kind)
		}
	}
}

// A server that loses its data can get it back from the others: no other fault strikes these. Clients may be
// cut off meanwhile.
func TestDataIsLostAlone(t *testing.T) {
	h := &Hunt{Services: []string{"etcd"}, Subject: fakeSubject, Draws: fakeDraws}
	forgets, besideCuts := 0, 0
	for number := range 200 {
		l, _, err := h.draw(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(l.Faults, func(f chaos.Fault) bool { return effect.Forgets(f.Effect) }) {
			continue
		}
		forgets++
		for i := range l.Faults {
			e := l.Faults[i].Effect
			_, cuts := e.(*effect.Partition)
			switch ofClients := effect.OfClients(e); {
			case ofClients && cuts:
				besideCuts++
			case ofClients:
			case effect.KindOf(e).Role == port.Server && !effect.Forgets(e):
				t.Errorf("plan %d: %v", number, l.FaultTexts())
			}
		}
	}
	if forgets == 0 || besideCuts == 0 {
		t.Errorf("%d plans lose data, %d of them beside cuts of clients", forgets, besideCuts)
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
	for says, change := range map[string]func(*Hunt){
		"--seed 1":           func(h *Hunt) { h.Seed = 2 },
		"--only etcd:":       func(h *Hunt) { h.Client = "mine" },
		"--only etcd: give":  func(h *Hunt) { h.Known = ServiceLines() },
		"files were changed": func(h *Hunt) { h.Digest = "other" },
	} {
		h = open(1)
		change(h)
		if err := h.Read(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("another hunt: %v, not %s", err, says)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(root, "set", HuntFile)); strings.Count(string(text), "\n") != 3 {
		t.Errorf("the journal is\n%s", text)
	}
}

// huntedRun returns a run with a fault and a finding; the fault of an empty text is a slow link.
func huntedRun(t *testing.T, one check.Finding, text string, elects bool) *runs.Run {
	t.Helper()
	of, fault := "etcd", chaos.Fault{Effect: new(effect.Slow)}
	if elects {
		of = "etcd-election"
	}
	subject, err := fakeSubject(t.Context(), of, nil, 3)
	if text != "" && err == nil {
		fault, err = chaos.ParseFault(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &runs.Run{Folder: &results.Folder{Path: t.TempDir()},
		Record: runs.Record{Trials: []runs.TrialRecord{{Faults: []chaos.Fault{fault}}}},
		Job:    &bench.Job{Spec: subject.Spec, Options: bench.Options{Config: subject.Config}},
		Trials: []*runs.TrialResult{{Faults: make([]results.FaultRow, 1),
			Verdict: check.Verdict{Outcome: one.Outcome, Findings: []check.Finding{one}}}}}
}

// A violation is a finding if all assumptions of the service held, and busy if the machine was overloaded.
func TestWhatIsAFinding(t *testing.T) {
	for name, c := range map[string]struct {
		finding check.Finding
		trouble string
		slept   time.Duration
		bound   bool          // the processors were busy
		fault   string        // empty: a slow link
		silence float64       // of the fault, in seconds
		both    time.Duration // how long two led though nothing explains it; 0: no election
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
		"blocked after a cut was healed": {finding: check.Finding{Outcome: check.Inconclusive, Expected: true,
			OutsideModel: true, Broken: nodes.NoLoss}, want: HuntFinding},
		"nobody entered though most servers were there": {finding: check.Finding{Outcome: check.Inconclusive,
			Idle: true}, want: HuntFinding},
		"nobody entered while a server stood still": {finding: check.Finding{Outcome: check.Inconclusive,
			Idle: true}, fault: "pause: server 0, at: 1s, for: 5s", silence: 0.9, want: HuntInconclusive},
		"nobody entered for long while a server stood still": {finding: check.Finding{Outcome: check.Inconclusive,
			Idle: true}, fault: "pause: server 0, at: 1s, for: 5s", silence: 1.1, want: HuntFinding},
		"two led": {finding: check.Finding{Outcome: check.Valid}, both: 20 * time.Millisecond, want: HuntFinding},
		"two led, and more is unknown": {finding: check.Finding{Outcome: check.Inconclusive},
			both: 20 * time.Millisecond, want: HuntFinding},
		"two led while the processors were busy": {finding: check.Finding{Outcome: check.Valid}, bound: true,
			both: 20 * time.Millisecond, want: HuntBusy},
		"two led for as long as a line waits": {finding: check.Finding{Outcome: check.Valid},
			both: 9 * time.Millisecond, want: HuntValid},
		"two led, and a sleep was late": {finding: check.Finding{Outcome: check.Valid},
			both: 20 * time.Millisecond, slept: 15 * time.Millisecond, want: HuntValid},
		"in doubt":      {finding: check.Finding{Outcome: check.Inconclusive, Doubted: true}, want: HuntBusy},
		"unknown":       {finding: check.Finding{Outcome: check.Inconclusive}, want: HuntInconclusive},
		"a client died": {trouble: "node 1 ended on its own", want: HuntFinding},
	} {
		if c.both > 0 {
			c.finding.Check, c.finding.Together = huntLeaders, c.both
		}
		r := huntedRun(t, c.finding, c.fault, c.both > 0)
		r.Trials[0].Trouble = c.trouble
		r.Trials[0].Faults[0].SilenceS = figure.Number(c.silence)
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
	class, about, _ := judgeHunt(huntedRun(t, check.Finding{}, "", false), errEndless, 0)
	if class != HuntFinding || about != huntEndless {
		t.Errorf("a run without an end: %s, %s", class, about)
	}
}

// A known failure of a service's own client explains what breaks its safety: not what another client does,
// nor a stall.
func TestKnownFailuresExplain(t *testing.T) {
	subject, err := fakeSubject(t.Context(), "redis", nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	all := []service.Draw{{Name: "px", Default: "2s"}, {Name: "release", Default: "script", Fixed: true}}
	drawn := &ServiceLine{Service: "redis", With: []string{"px=1s", "release=del"}}
	run := &runs.Run{Job: &bench.Job{Spec: subject.Spec}, Folder: &results.Folder{Path: t.TempDir()},
		Trials: []*runs.TrialResult{{Verdict: check.Verdict{Outcome: check.Violated, Findings: []check.Finding{
			{Check: "exclusion", Outcome: check.Violated}, {Check: "progress", Outcome: check.Violated}}}}}}
	for name, c := range map[string]struct {
		client, about string
		options       []service.Draw
		want          bool
	}{
		"its own client":              {"", "exclusion", all, true},
		"a stall":                     {"", "progress", all, false},
		"a fence number that fell":    {"", huntFences, all, false},
		"another client":              {"mine", "exclusion", all, false},
		"an option that is not drawn": {"", "exclusion", all[:1], false},
	} {
		h := &Hunt{Client: c.client, Draws: func(string) []service.Draw { return c.options }}
		if l := h.documented(drawn, run, c.about); (l != nil) != c.want {
			t.Errorf("%s: %v", name, l)
		}
	}
}

// Only options that break fence numbers, too, explain that one fell.
func TestKnownFailuresExplainFences(t *testing.T) {
	subject, err := fakeSubject(t.Context(), "etcd", nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	run := &runs.Run{Job: &bench.Job{Spec: subject.Spec}, Folder: &results.Folder{Path: t.TempDir()},
		Trials: []*runs.TrialResult{{Verdict: check.Verdict{Findings: []check.Finding{{Check: "exclusion"}}}}}}
	h := &Hunt{Draws: func(string) []service.Draw {
		return []service.Draw{{Name: "session", Default: "own", Fixed: true}}
	}}
	for word, explains := range map[string]bool{"session=shared": true, "session=own": false} {
		drawn := &ServiceLine{Service: "etcd", With: []string{word}}
		if l := h.documented(drawn, run, huntFences); (l != nil) != explains {
			t.Errorf("%s: %v", word, l)
		}
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

// A reduced plan has the options and faults of its line, and no others. A plan that lacks one of them cannot
// be reduced.
func TestPlansReduceToLines(t *testing.T) {
	fault := func(texts ...string) (all []chaos.Fault) {
		for _, text := range texts {
			f, err := chaos.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, f)
		}
		return all
	}
	pause := fault("pause: holder, at: 1s, for: 6s")
	const paused = " [pause holder at 1s for 6s]"
	for name, c := range map[string]struct {
		with, drawn []string
		faults      []chaos.Fault
		want        string // options and faults of the reduced plan; empty: it lacks something
	}{
		"the same":                 {nil, nil, fault("pause: 2, at: 1s, for: 3s"), "[] [pause 2 at 1s for 3s]"},
		"a scale, a switch":        {nil, []string{"ttl=3s", "obey=off"}, pause, "[ttl=3s]" + paused},
		"what is off by default":   {nil, []string{"lag=1s"}, pause, "[]" + paused},
		"the switch of the line":   {[]string{"obey=off"}, []string{"obey=off"}, pause, "[obey=off]" + paused},
		"without the switch":       {[]string{"obey=off"}, nil, pause, ""},
		"at the default":           {[]string{"obey=on"}, nil, pause, "[]" + paused},
		"not at the default":       {[]string{"obey=on"}, []string{"obey=off"}, pause, ""},
		"on by another value":      {[]string{"lag=2s"}, []string{"lag=1s"}, pause, "[lag=1s]" + paused},
		"off":                      {[]string{"lag=2s"}, nil, pause, ""},
		"a fault too many":         {nil, nil, append(fault("kill: 1, for: 1s"), pause...), "[]" + paused},
		"a fault of servers alone": {nil, nil, fault("pause: server 0, at: 1s, for: 1s"), ""},
		"a silence of all clients": {nil, nil, fault("pause: 0-2, at: 1s, for: 3s"), ""},
	} {
		l := &ServiceLine{With: c.with, Faults: pause, Silence: time.Second}
		text := ""
		drawn := &ServiceLine{With: c.drawn, Faults: c.faults, Demands: true, Nodes: 3}
		if one := l.reduced(drawn, fakeDraws("")); one != nil {
			text = fmt.Sprintf("%v %v", one.With, one.FaultTexts())
		}
		if text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// A run shows a line if it has the outcomes of the line, without fences and with them.
func TestRunsShowLines(t *testing.T) {
	breaks := func(fenced algorithm.Outcome, us float64) *ServiceRun {
		r := &ServiceRun{Strict: algorithm.Breaks, Fenced: fenced, HasFences: fenced != 0}
		r.Row.OverlapUS = figure.Number(us)
		return r
	}
	stalls := &ServiceRun{Strict: algorithm.Recovers, SilenceS: figure.Number(3.0)}
	drawn := &ServiceLine{Hold: time.Second,
		Faults: []chaos.Fault{{Schedule: chaos.Schedule{For: 2 * time.Second}}}}
	for name, c := range map[string]struct {
		line ServiceLine
		run  *ServiceRun
		want bool
	}{
		"two inside":              {ServiceLine{Strict: "X", Fenced: "L"}, breaks(algorithm.Recovers, 1), true},
		"fences fail":             {ServiceLine{Strict: "X", Fenced: "L"}, breaks(algorithm.Breaks, 1), false},
		"no fences":               {ServiceLine{Strict: "X", Fenced: "L"}, breaks(0, 1), false},
		"not inside together":     {ServiceLine{Strict: "X"}, stalls, false},
		"for long":                {ServiceLine{Strict: "X", Lasts: true}, breaks(0, 4e6), true},
		"as long as the fault":    {ServiceLine{Strict: "X", Lasts: true}, breaks(0, 2e6), false},
		"a silence":               {ServiceLine{Strict: "L", Silence: 1500 * time.Millisecond}, stalls, true},
		"as long as a hold takes": {ServiceLine{Strict: "L", Silence: 2500 * time.Millisecond}, stalls, false},
		"refused":                 {ServiceLine{Strict: "L", Refuses: true}, stalls, false},
	} {
		if got := c.line.shownBy(c.run, drawn); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// An operator who takes the key of a waiting client does not excuse two inside. One who takes the key of a
// client that is inside, or enters at that moment, excuses them.
func TestWhatIsTakenFromClients(t *testing.T) {
	byRun, err := chaos.ParseFault("delete: lock of waiter, at: 1s")
	named, other := chaos.ParseFault("delete: lock of 1, at: 1s")
	if err = cmp.Or(err, other); err != nil {
		t.Fatal(err)
	}
	event := func(kind history.Kind, at time.Duration, node nodes.ID) history.Event {
		return history.Event{Kind: kind, At: int64(at), Node: node, Count: 1, Entry: 2}
	}
	began := event(history.FaultBegan, time.Second, nodes.None)
	elected := func(at time.Duration, leader uint32) history.Event {
		e := event(history.Elected, at, 1)
		e.Count = leader
		return e
	}
	for name, c := range map[string]struct {
		events []history.Event
		had    bool
	}{
		"it waits": {[]history.Event{event(history.Entered, 0, 0), began, event(history.Exited, 1, 0),
			event(history.Entered, 2*time.Second, 1)}, false},
		"nobody is inside": {[]history.Event{began, event(history.Entered, 2*time.Second, 1)}, true},
		"nobody is inside, and another enters": {[]history.Event{began, event(history.Entered, 2*time.Second, 0),
			event(history.Entered, 2*time.Second, 1)}, false},
		"another is inside": {[]history.Event{event(history.Entered, 0, 0), began}, false},
		"it is inside":      {[]history.Event{event(history.Entered, 0, 1), began}, true},
		"it enters":         {[]history.Event{began, event(history.Entered, time.Second+1, 1)}, true},
		"it was inside": {[]history.Event{event(history.Entered, 0, 1), event(history.Exited, 1, 1), began},
			false},
		"it leads": {[]history.Event{elected(0, 1), began}, true},
		"it follows": {[]history.Event{{Kind: history.Elected, Node: 0}, elected(0, 0), began,
			event(history.Entered, 2*time.Second, 1)}, false},
		"it led": {[]history.Event{elected(0, 1), elected(1, history.NoLeader), began}, false},
		"it was killed": {[]history.Event{event(history.Entered, 0, 1), event(history.Crashed, 1, 1), began},
			false},
		"it was revoked": {[]history.Event{event(history.Entered, 0, 1), event(history.Revoked, 1, 1), began},
			false},
	} {
		for _, f := range []chaos.Fault{byRun, named} {
			fold := newTakenFold([]chaos.Fault{f})
			for _, e := range c.events {
				fold.Add(e)
			}
			if fold.had != c.had {
				t.Errorf("%s, %v: %v", name, &f, fold.had)
			}
		}
	}
}

// The recall of a hunt says after how many plans of its service a line was found. A service gets no more
// plans once all its lines are found.
func TestRecall(t *testing.T) {
	lines := []*ServiceLine{{Number: 1, Service: "etcd", Strict: "X"},
		{Number: 2, Service: "redis", Strict: "X"}, {Number: 3, Service: "redis", Strict: "L"}}
	h := &Hunt{Services: []string{"etcd", "redis"}, Known: lines, Done: map[int]*Hunted{
		0: {Service: "etcd"}, 1: {Service: "redis"}, 2: {Service: "etcd"},
		4: {Service: "etcd", Found: []HuntFound{{"1 etcd", "later"}}},
		6: {Service: "etcd", Found: []HuntFound{{"1 etcd", "again"}}}}}
	h.Done[2].Found = []HuntFound{{"1 etcd", "the call"}}
	want := []results.RecallRow{{Line: 1, Service: "etcd", Fault: "none", Fails: "two inside", After: 2,
		Plans: 4, Call: "the call"}, {Line: 2, Service: "redis", Fault: "none", Fails: "two inside", Plans: 1},
		{Line: 3, Service: "redis", Fault: "none", Plans: 1}}
	if rows := h.Recall(); !reflect.DeepEqual(rows, want) {
		t.Errorf("%+v", rows)
	}
	if h.sought("etcd") || !h.sought("redis") {
		t.Error("plans go to a service whose lines are found, or none to one whose line is not")
	}
	if h.Done[7] = (&Hunted{Service: "redis", Found: []HuntFound{{Line: "2 redis"}}}); h.sought("redis") {
		t.Error("plans go to a service whose other line shows that nothing fails")
	}
}
