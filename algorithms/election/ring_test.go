package election

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// ringAlgorithms are the sound electors of rings that take no failure detector.
var ringAlgorithms = []*algorithm.Algorithm{&leLannAlgorithm, &changRobertsAlgorithm,
	&hirschbergSinclairAlgorithm, &franklinAlgorithm,
	&dolevKlaweRodehAlgorithm, &itaiRodehAlgorithm, &itaiRodehAsyncAlgorithm}

// A ringTrial is a run by hand on a small ring, drawn from a seed.
type ringTrial struct {
	algorithm *algorithm.Algorithm
	what      trouble
	seed      uint64
	together  bool // all campaign at once, before any message arrives, and nobody later
}

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// run makes the run.
func (x ringTrial) run(t testing.TB) *byHand {
	r := rng(x.seed)
	c := nodes.Config{N: 1 + r.IntN(6)}
	if x.algorithm.Option(idsOption.Name) != nil {
		c = c.With(idsOption.Name, fmt.Sprintf("random:%d", r.IntN(1000)))
	}
	h := clusterByHand(t, x.algorithm, c, r)
	campaigns := 1 + r.IntN(5)
	if x.together {
		h.campaign(everyone(c.N)...)
		campaigns = 0
	}
	h.disturb(r, x.what, campaigns)
	return h
}

func everyone(n int) (all []nodes.ID) {
	for id := range nodes.ID(n) {
		all = append(all, id)
	}
	return all
}

// highest returns the node with the highest identity.
func (h *byHand) highest() nodes.ID {
	in := h.stack.Instances()[0]
	ids, _ := identities(in.Config.N, in.Config.Value(idsOption))
	best := 0
	for i, id := range ids {
		if id > ids[best] {
			best = i
		}
	}
	return nodes.ID(best)
}

// fault returns what went wrong during a run or is wrong at its end; "": nothing.
func (h *byHand) fault() string {
	leader := h.agreed()
	switch {
	case h.wrong != "":
		return "two leaders"
	case h.runaway:
		return "no end"
	case leader == nodes.None:
		return "no agreement"
	case h.stack.Instances()[0].Elector.Wins == algorithm.HighestWins && leader != h.highest():
		return "not the highest"
	}
	return ""
}

// troubles are the troubles under which rings run, each with the assumptions that it breaks.
var troubles = []struct {
	trouble
	breaks nodes.Assumption
}{
	{trouble{}, 0},
	{trouble{losses: true}, nodes.NoLoss},
	{trouble{copies: true}, nodes.NoDuplication},
	{trouble{reordering: true}, nodes.FIFO},
	{trouble{copies: true, reordering: true}, nodes.NoDuplication | nodes.FIFO},
	{trouble{crashes: true}, nodes.NoCrash},
	{trouble{losses: true, copies: true, reordering: true, crashes: true},
		nodes.NoLoss | nodes.NoDuplication | nodes.FIFO | nodes.NoCrash},
	{trouble{amnesia: true}, nodes.NoCrash | nodes.NoAmnesia},
	{trouble{reordering: true, amnesia: true}, nodes.FIFO | nodes.NoCrash | nodes.NoAmnesia},
}

// If an algorithm's safety needs no assumption that is broken, no two nodes lead. If its progress needs no
// such assumption either, all agree in the end. And each algorithm does need the assumptions that it names.
func TestRingsElectOneLeader(t *testing.T) {
	const most = 200_000 // which make soak tries
	rare := soak.Pick[uint64](1000, 4000, most)
	for _, algo := range ringAlgorithms {
		t.Run(algo.Name, func(t *testing.T) {
			t.Parallel()
			var broken nodes.Assumption // whose breach let two lead
			for _, what := range troubles {
				mayBreak := algo.Safe&what.breaks != 0
				mayStop := mayBreak || algo.Live&what.breaks != 0
				broke, stopped := false, false
				seeds := soak.Pick[uint64](100, 200, 200_000)
				if mayBreak {
					seeds = rare // at most, until two lead
				}
				for seed := range seeds {
					h := ringTrial{algorithm: algo, what: what.trouble, seed: seed}.run(t)
					fault := h.fault()
					broke, stopped = broke || h.wrong != "", stopped || fault != ""
					if h.wrong != "" && !mayBreak || fault != "" && !mayStop {
						t.Fatalf("%+v, seed %d: %s: %v", what.trouble, seed, fault, h.believe)
					}
					if seeds == rare && broke {
						break
					}
				}
				if broke {
					broken |= what.breaks
				}
				if mayStop && !stopped {
					t.Errorf("%+v: it is said to rest on %v, but nothing went wrong", what.trouble, what.breaks)
				}
			}
			if idle := algo.Safe &^ broken; idle != 0 && rare == most {
				t.Errorf("its safety is said to rest on %v, but no two led without", idle)
			}
		})
	}
}

// idsOf returns a list of identities as the option ids takes it.
func idsOf(all []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ","), "[]")
}

// allRings calls f with every order of the numbers below n that begins with 0, which are all rings of n.
func allRings(n int, f func(ids []int)) {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	var place func(at int)
	place = func(at int) {
		if at == n {
			f(ids)
			return
		}
		for with := at; with < n; with++ {
			ids[at], ids[with] = ids[with], ids[at]
			place(at + 1)
			ids[at], ids[with] = ids[with], ids[at]
		}
	}
	place(1)
}

// ringRun has nodes of a ring campaign at once, and returns what came of it once all is over.
func ringRun(t testing.TB, algo *algorithm.Algorithm, n int, ids string, initiators ...nodes.ID) *byHand {
	t.Helper()
	c := nodes.Config{N: n}
	if ids != "" {
		c = c.With(idsOption.Name, ids)
	}
	h := clusterByHand(t, algo, c, rng(uint64(n)))
	h.campaign(initiators...)
	h.rest()
	if fault := h.fault(); fault != "" {
		t.Errorf("%s, n=%d, ids %s, initiators %v: %s: %v", algo.Name, n, ids, initiators, fault, h.believe)
	}
	return h
}

// An election can follow another, and it ends without a fault, too.
func TestRingsElectAgain(t *testing.T) {
	for _, algo := range ringAlgorithms {
		for _, n := range []int{1, 2, 3, 5} {
			h := ringRun(t, algo, n, "", everyone(n)...)
			first := fmt.Sprint(h.sent)
			for id := range nodes.ID(n) {
				clear(h.sent)
				h.campaign(id)
				if n > 1 && h.agreed() != nodes.None {
					t.Errorf("%s, n=%d: node %d campaigns, and all go on to agree", algo.Name, n, id)
				}
				h.rest()
				if fault := h.fault(); fault != "" || n > 1 && len(h.sent) == 0 {
					t.Errorf("%s, n=%d: an election by node %d after one of %s: %s, %v", algo.Name, n, id, first,
						fault, h.sent)
				}
			}
		}
	}
}

// Rings elect on virtual time as in the runs by hand, and large rings do, too.
func TestRingsElectOnVirtualTime(t *testing.T) {
	large := soak.Pick(200, 1000, 1000)
	for _, spec := range ringAlgorithms {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{1, 2, 3, 16, large} {
				for _, who := range []workload.Initiators{workload.AllInitiate, "random:1"} {
					c := nodes.Config{N: n}
					if n == large && spec.Option(idsOption.Name) != nil {
						c = c.With(idsOption.Name, "decreasing") // the random orders take time to make
					}
					o := scenario{algorithm: spec, config: c, initiators: who, duration: time.Minute}.simulated(t)
					want := o.leader()
					if spec.Elector.Wins == algorithm.HighestWins {
						want = nodes.ID(n - 1)
						if n == large {
							want = 0
						}
					}
					if o.leads(t, want); want == nodes.None || n == 1 && o.messages() > 0 {
						t.Errorf("n=%d, %s campaigns: %d leads after %d messages", n, who, want, o.messages())
					}
				}
			}
		})
	}
}
