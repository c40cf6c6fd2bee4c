package election

import (
	"fmt"
	"math"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// The formulas of chapter 9 of Ongaro's thesis: s of n nodes are up and begin to wait at the same time, each
// for a time that is uniform over T to 2T; a message takes l times the range T, always. So the first of them
// times out after T + T/(s+1) on average, and within T + T/4 with probability 1-(3/4)^s. Votes are split with
// the probability that splitVote returns, by the formula of the thesis.
//
// The test compares only the first term of each run. Nobody leads yet, as after the last heartbeat of a
// leader, if that heartbeat reached all nodes at one time.
func TestSplitVotesAreAsRareAsTheThesisSays(t *testing.T) {
	const timeout = 200 * time.Millisecond
	for _, test := range []struct {
		n, s      int
		published [3]float64 // per cent, for l = 0.01, 0.1 and 0.2; the thesis itself has only the first line
	}{
		{5, 4, [3]float64{0.06, 5.2, 18.1}},
		{3, 2, [3]float64{2.0, 19.0, 36.0}},
		{5, 3, [3]float64{3.0, 27.1, 48.8}},
		{9, 5, [3]float64{4.9, 41.0, 67.2}},
		{9, 8, [3]float64{0.0, 0.5, 5.6}},
	} {
		for i, l := range []float64{0.01, 0.1, 0.2} {
			want := splitVote(test.n, test.s, l)
			if math.Abs(100*want-test.published[i]) > 0.051 {
				t.Errorf("n=%d s=%d l=%.2f: the formula gives %.3f%%, published are %.2f%%", test.n, test.s, l, 100*want,
					test.published[i])
			}
			t.Run(fmt.Sprintf("n=%d,s=%d,l=%.2f", test.n, test.s, l), func(t *testing.T) {
				t.Parallel()
				splits := splitVotes{n: test.n, s: test.s, timeout: timeout,
					latency: time.Duration(l * float64(timeout))}
				splits.count(t, soak.Pick(200, 500, 30_000))
				splits.compare(t, want)
			})
		}
	}
}

// splitVotes counts split votes in elections with n nodes. s nodes are up.
type splitVotes struct {
	n, s             int
	timeout, latency time.Duration
	runs, split      int
	first            float64 // sum over the runs: time from T to the first timeout, in units of T
	early            int     // runs with the first timeout in the first quarter of the range
}

// count simulates elections.
func (v *splitVotes) count(t *testing.T, runs int) {
	var dead []nodes.ID
	for id := v.s; id < v.n; id++ {
		dead = append(dead, nodes.ID(id))
	}
	s := scenario{algorithm: &raftAlgorithm, initiators: workload.NoneInitiates, duration: 3 * v.timeout,
		config: optionsOf(v.n, fmt.Sprintf("election-timeout=%v-%v heartbeat=%v", v.timeout, 2*v.timeout,
			v.timeout/2)),
		network: algotest.NetworkOf(v.latency.String())}
	if dead != nil {
		s.faults = append(s.faults, down(dead...))
	}
	for seed := range uint64(runs) {
		s.seed = seed + 1
		first := &sends{}
		s.beside = first
		o := s.simulated(t)
		v.runs++
		out := float64(first.first)/float64(v.timeout) - 1
		if v.first += out; out <= 0.25 {
			v.early++
		}
		if !wonInTerm(o, 1) {
			v.split++
		}
	}
}

// wonInTerm reports whether somebody led in a term.
func wonInTerm(o outcome, term uint64) bool {
	for _, b := range o.Beliefs {
		if b.Term == term && b.Leads() {
			return true
		}
	}
	return false
}

// compare demands the probabilities of a split vote and of a first timeout in the first quarter of the range,
// and the mean time of the first timeout, within four standard errors.
func (v *splitVotes) compare(t *testing.T, want float64) {
	runs, s := float64(v.runs), float64(v.s)
	v.share(t, "votes split", v.split, want)
	v.share(t, "first timeouts are in the first quarter", v.early, 1-math.Pow(0.75, s))
	mean, deviation := 1/(s+1), math.Sqrt(s/((s+1)*(s+1)*(s+2)))
	if got, within := v.first/runs, 4*deviation/math.Sqrt(runs); math.Abs(got-mean) > within {
		t.Errorf("the first of %d times out after %.4f of the range, not %.4f +- %.4f", v.s, got, mean, within)
	} else {
		t.Logf("the first of %d times out after %.4f of the range; %.4f +- %.4f", v.s, got, mean, within)
	}
}

// share demands a probability within four standard errors.
func (v *splitVotes) share(t *testing.T, what string, of int, want float64) {
	t.Helper()
	runs := float64(v.runs)
	if got, within := float64(of)/runs, 4*math.Sqrt(want*(1-want)/runs); math.Abs(got-want) > within {
		t.Errorf("%.2f%% of %d %s, not %.2f%% +- %.2f%%", 100*got, v.runs, what, 100*want, 100*within)
	} else {
		t.Logf("%.2f%% of %d %s; %.2f%% +- %.2f%%", 100*got, v.runs, what, 100*want, 100*within)
	}
}
