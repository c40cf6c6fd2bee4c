package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/internal/soak"
)

// A testbedMutant is a change of the testbed that breaks a verdict or a figure. It names the tests that must
// fail with it.
type testbedMutant struct {
	name, file string // name of the mutant; path of the changed file in the module
	was, is    string // the text in the file, which occurs once, and its replacement
	tests      string // pattern of tests, in the folder of the file unless the next field names another
	of         string
}

const splitBrain, judging = "bench/study/split_brain.go", "^TestJudged$"

const elected, byTheRule = "judge/leadership/elected.go",
	"^(TestElectionsEndByTheRuleOfTheAlgorithm|TestElectionsAgainstNaive)$"

var testbedMutants = []testbedMutant{
	{name: "half of the nodes count as a majority", file: splitBrain, tests: judging,
		was: "if 2*len(side) <= x.n {\n\t\t\tminority", is: "if 2*len(side) < x.n {\n\t\t\tminority"},
	{name: "a leader of a majority counts as leading a minority", file: splitBrain, tests: judging,
		was: "if 2*len(side) <= x.n {\n\t\t\tminority", is: "if true {\n\t\t\tminority"},
	{name: "every leader of a minority counts as having stepped down", file: splitBrain, tests: judging,
		was: "seconds(led), s.To < cut.To", is: "seconds(led), true"},
	{name: "agreement counts from the cut instead of the heal", file: splitBrain, tests: judging,
		was: "max(0, last.Agreed-cut.To)", is: "max(0, last.Agreed-cut.From)"},
	{name: "two may lead in one term", file: splitBrain, tests: judging,
		was: "x.spec.Elector.Terms && inTerm > 0", is: "x.spec.Elector.Terms && inTerm < 0"},
	{name: "a leader that was not where it was to be is evidence", file: splitBrain,
		tests: "^TestALeaderElsewhereIsNoEvidence$",
		was:   "len(before) == 1 && !x.placed(before) {", is: "len(before) == 1 && false {"},
	{name: "a leader that is to stay may be replaced late", file: splitBrain,
		tests: "^TestLeadersThatAreToStay$", was: "	case came > 0:", is: "	case false:"},
	{name: "nobody needs to lead a majority where some links are cut", file: splitBrain,
		tests: "^TestLeadersThatAreToStay$",
		was:   "possible && len(reached) != 1", is: "possible && len(reached) > 1"},
	{name: "a run that hits nothing shows something", file: "bench/study/split_brain.go",
		tests: "^TestLeadersAreOnEitherSide$", was: "if t.Verdict.Missed &&", is: "if false &&"},
	{name: "half of the nodes elect a leader", file: elected, tests: byTheRule,
		was: "2*len(members) <= t.f.stack", is: "2*len(members) < t.f.stack"},
	{name: "votes of an earlier term elect a leader", file: elected, tests: byTheRule,
		was: "t.f.voters[i].Term == t.f.voters[leader].Term", is: "true"},
	{name: "a node that hears and is not heard is reached", file: elected, tests: byTheRule,
		was: "c.between(a, b) || c.between(b, a)", is: "c.between(b, a)"},
	{name: "a leader that was replaced is lost when it crashes", file: elected,
		tests: "^TestALeaderThatWasReplacedIsNotLost$",
		was:   "		return !held\n", is: "		return true\n"},
	{name: "ranks decide the election though not all reach each other", file: elected,
		tests: "^TestWhoCouldHaveBeenElected$", was: " || !t.together(leader) {", is: " {"},
	{name: "changes of a leader count while faults begin", file: "judge/leadership/fold.go",
		tests: "^TestChangesInCalmTimes$", was: "+int64(f.Grace), min(", is: ", min("},
	{name: "a leader may go on with half of the nodes", file: "judge/check/model.go", tests: ".",
		was: "2*m.reached(id, from) > m.Config.N", is: "2*m.reached(id, from) >= m.Config.N"},
	{name: "what a client does in a minority is not judged", file: "judge/check/minority.go", tests: ".",
		was: "e.broken = append(e.broken, minorityEntry{*s, since})", is: "_ = since"},
	{name: "a nanosecond of two inside together does not count", file: "judge/section/clocks.go",
		of: "algorithms/mutex", tests: "^TestPorcupineAgreesAboutExclusion$",
		was: "now-max(a.Entered, b.Entered) > c.all", is: "now-max(a.Entered, b.Entered) > c.all+1"},
	{name: "stamps of two clocks are compared as if they did not err", file: "judge/section/clocks.go",
		tests: "^TestWhatSeveralClocksTell$",
		was:   "return a.Error + b.Error", is: "return a.Own + b.Own"},
	{name: "stamps are known while a clock jumps", file: "nodes/history/clocks.go",
		tests: "^TestStampsOfAnotherClockAreCorrected$", was: "if p.Unknown {", is: "if false {"},
	{name: "stamps of another clock are taken as they are", file: "nodes/history/clocks.go", of: "nodes/host",
		tests: "^TestClocksThatDifferAreNoFalseAlarm$",
		was:   "if len(c.Pieces) == 0 {\n\t\treturn stamp", is: "if true {\n\t\treturn stamp"},
	{name: "no exchange contradicts the earlier ones", file: "internal/offset/offset.go",
		tests: "^TestAJumpIsUnknown$", was: "if low <= p.high && high >= p.low {", is: "if true {"},
	{name: "a client that died inside stays inside", file: "judge/section/death.go", of: "algorithms/mutex",
		tests: "^TestPorcupineAgreesAboutExclusion$",
		was:   "f.cut(s, e.At, Crashed, Abandoned)", is: "f.cut(nil, e.At, Crashed, Abandoned)"},
	{name: "a stall while a client is inside violates progress", file: "judge/check/progress.go",
		tests: ".", was: "case e.seen(history.Stalled) && len(inside) > 0:", is: "case false:"},
	{name: "a node counts a publish of a multicast twice", file: "nodes/host/traffic.go",
		tests: "^TestHostsRunAnAlgorithm$",
		was:   "t.count(e, hearers, 1, hearers*bytes)", is: "t.count(e, hearers, 2, hearers*bytes)"},
	{name: "a node that was taken out may come back late", file: "nodes/host/books.go", tests: "^TestBooks$",
		was: "case q.Incarnation < p.life:", is: "case false:"},
	{name: "what is asked again is done again", file: "nodes/host/books.go", tests: "^TestBooks$",
		was: "q.Number != 0 && q.Number <= p.answer.Number:", is: "false:"},
	{name: "others hear of a revocation before the resource does", file: "nodes/host/client.go",
		tests: "^TestTheRegisterHearsOfRevocationsFirst$",
		was:   "\tc.host.revoking++\n", is: ""},
	{name: "what is open is not asked again", file: "nodes/host/asked.go",
		tests: "^TestQuestionsOutliveTheirConnection$",
		was:   "\t\tif r.asks {\n\t\t\ta.publish", is: "\t\tif false {\n\t\t\ta.publish"},
	{name: "a resource that is asked is held to its stamps", file: "judge/check/exclusion.go",
		tests: "^TestARefusalMayBeSeenBeforeItsCause$",
		was:   "r.Lost() > 0 && !e.Asked && r.Closest", is: "r.Lost() > 0 && r.Closest"},
	{name: "lines of others are not noticed", file: "nodes/workload/work.go", tests: "^TestStintsOfTwo$",
		was: "&& !first {", is: "&& !first && s.Done > Steps {"},
	{name: "spoilt work is no violation", file: "judge/check/exclusion.go",
		tests: "^TestEveryMutantIsCaught$", was: "if spoilt > 0 {", is: "if false {"},
	{name: "the second network is the first", file: "bench/site/site.go", of: "bench/runs",
		tests: "^TestEachNetworkHasABrokerOfItsOwn$",
		was:   "if network >= len(s.networks) {", is: "if network > 0 {"},
	{name: "the simulator counts a publish of a multicast twice", file: "nodes/sim/host.go",
		of: "bench/study", tests: "^TestAlgorithmsReproduceWhatIsPublished$/^ricart-agrawala$",
		was: "publishes = 1\n", is: "publishes = 2\n"},
	{name: "timeouts do not follow delays", file: "nodes/timeout.go", of: "bench",
		tests: "^TestTimeoutsCoverTheDelaysOfARun$",
		was:   "covers > o.Bound.coveredBy(longer.Value(*o))", is: "covers < 0"},
	{name: "failures under short timeouts are inside the model", file: "judge/check/model.go", of: "bench",
		tests: "^TestShortTimeoutsAreOutsideTheModel$", was: "broken = m.NeverHolds\n", is: "broken = 0\n"},
	{name: "unrelated failures under short timeouts are outside the model", file: "judge/check/model.go",
		of: "bench", tests: "^TestWrongAlgorithmsAreFoundViolatedThoughMessagesAreSlow$",
		was: "broken = m.NeverHolds\n", is: "broken = m.NeverHolds | nodes.NoLoss\n"},
	{name: "a restarted node leads in its saved epoch", file: "algorithms/election/bully_majority.go",
		of: "bench/study", tests: "^TestWhatIsSavedOutlastsCampaigns$",
		was: "b.epoch = s.Epoch\n\t}\n", is: "b.epoch = s.Epoch\n\t\tb.lead(env)\n\t\treturn\n\t}\n"},
	{name: "a run in which no message was handled ends at once", file: "nodes/sim/run.go", of: "bench",
		tests: "^TestTimeoutsCoverTheDelaysOfARun$",
		was:   "w.steps-min(w.steps, w.last)", is: "w.steps-w.last"},
}

// The named tests fail once the testbed is mutated. Each mutant is built and tested next to the real files,
// which takes seconds, so only make mutants does that; otherwise this test only checks that the mutations
// apply.
func TestMutantsOfTheTestbed(t *testing.T) {
	const root = ".."
	for _, m := range testbedMutants {
		t.Run(m.name, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join(root, m.file))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), m.was); n != 1 {
				t.Fatalf("%s has %q %d times: it is to have it once", m.file, m.was, n)
			}
			if !soak.Pick(false, false, true) {
				return
			}
			dir := t.TempDir()
			changed := filepath.Join(dir, "changed.go")
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
			if err == nil {
				err = os.WriteFile(changed, []byte(strings.Replace(string(text), m.was, m.is, 1)), 0o644)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			folder := m.of
			if folder == "" {
				folder = filepath.Dir(m.file)
			}
			tests := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run", m.tests,
				"-overlay", filepath.Join(dir, "overlay.json"), ".")
			tests.Dir, tests.Env = filepath.Join(root, folder), append(os.Environ(), "SOAK=")
			out, err := tests.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: ") {
				t.Errorf("no test fails: %v\n%s", err, out)
			}
		})
	}
}
