package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// campaigning are the options of a ring whose nodes campaign again and again.
func campaigning(every time.Duration) Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Duration, o.Warmup, o.WarmupLimit = "chang-roberts", 3, 2*time.Second, 0, 0
	o.Latency = chance.Constant(time.Millisecond)
	o.Workload = workload.Workload{Load: workload.Campaign, CampaignEvery: every}
	return o
}

// All nodes that are up campaign periodically, also after a restart. The last campaign leaves enough time for
// an election.
func TestCampaignsAgainAndAgain(t *testing.T) {
	spec, err := election.Find("chang-roberts")
	if err != nil {
		t.Fatal(err)
	}
	o := campaigning(300 * time.Millisecond)
	f, err := chaos.ParseFault("kill: 1, at: 700ms, for: 400ms")
	if err != nil {
		t.Fatal(err)
	}
	o.Faults = []chaos.Fault{f}
	j, err := Resolve(o, spec, true)
	if err != nil {
		t.Fatal(err)
	}
	asked, _, err := j.simulation(0, j.Seed)
	if err != nil {
		t.Fatal(err)
	}
	var h history.History
	if _, err := sim.Run(*asked, &h); err != nil {
		t.Fatal(err)
	}
	at := map[nodes.ID][]int64{}
	for _, e := range h.Events {
		if e.Kind == history.Campaigned {
			at[e.Node] = append(at[e.Node], e.At/int64(time.Millisecond))
		}
	}
	all, of1 := []int64{5, 305, 605, 905, 1205, 1505, 1805},
		[]int64{5, 305, 605, 1205, 1505, 1805}
	if !slices.Equal(at[0], all) || !slices.Equal(at[1], of1) || !slices.Equal(at[2], all) {
		t.Errorf("they campaigned at %v ms", at)
	}
	last := o.Duration - j.AgreesWithin()
	if last < 1805*time.Millisecond || last > 2105*time.Millisecond {
		t.Errorf("the last campaign was at 1.805s, and has to be by %v", last)
	}
}

// --campaign-every is refused if the run has no time for a second campaign, if there are no initiators, or if
// the algorithm elects nobody.
func TestCampaignsThatMakeNoSense(t *testing.T) {
	for says, change := range map[string]func(*Options){
		"leave no time for a second one: all may take 192ms to agree": func(o *Options) {
			o.Workload.CampaignEvery = 1900 * time.Millisecond
		},
		"1ms is the least": func(o *Options) { o.Workload.CampaignEvery = time.Microsecond },
		"take other initiators": func(o *Options) {
			o.Workload.Initiators = workload.NoneInitiates
		},
	} {
		spec, err := election.Find("chang-roberts")
		if err != nil {
			t.Fatal(err)
		}
		o := campaigning(300 * time.Millisecond)
		change(&o)
		if _, err := Resolve(o, spec, true); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
