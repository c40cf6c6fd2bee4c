package chaos

import (
	"math"
	"slices"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// scene is a run of an algorithm with five clients that is measured for three seconds.
func scene(t testing.TB, algorithm string) *Scene {
	t.Helper()
	algo, err := mutex.Find(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return &Scene{Spec: algo, Config: nodes.Config{N: 5}, Measured: 3 * time.Second}
}

// ruled returns the shaper of a network in which faults are in force from the time 1 on.
func ruled(t testing.TB, n *Network, faults ...Fault) nodes.Shaper {
	t.Helper()
	b := NewSharedState(5)
	for i := range faults {
		b.faults[i].begin(1, never)
		faults[i].Seed += uint64(i) + 1
	}
	s, err := n.Shaper(1, faults, b, scene(t, "suzuki-kasami").Spec.Codec())
	if err != nil {
		t.Fatal(err)
	}
	return shaperAt{s}
}

// shaperAt shapes packets without a time as of the time 1, when faults are in force.
type shaperAt struct{ nodes.Shaper }

func (s shaperAt) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	p.At = max(p.At, 1)
	return s.Shaper.Shape(p, fate)
}

func distribution(t testing.TB, text string) *chance.Distribution {
	t.Helper()
	d, err := chance.ParseDistribution(text)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// lossy returns which of the first packets of a link are lost.
func lossy(s nodes.Shaper, many uint64) (lost []bool) {
	for n := range many {
		lost = append(lost, len(s.Shape(&nodes.Packet{From: 0, To: 1, Number: n + 1}, nil)) == 0)
	}
	return lost
}

func count(lost []bool) (n int) {
	for _, x := range lost {
		if x {
			n++
		}
	}
	return n
}

// Bursts follow the chain of Gilbert, in the share of losses and in the mean number of losses in a row.
func TestBurstsAreThoseOfGilbert(t *testing.T) {
	const many = 200_000
	bursts := Fault{Effect: &effect.Loss{Of: effect.Losses{Worsens: 0.02, Recovers: 0.2}}}
	lost := lossy(ruled(t, &Network{}, bursts), many)
	runs := 0
	for i := 1; i < many; i++ {
		if lost[i] && !lost[i-1] {
			runs++
		}
	}
	share, length := float64(count(lost))/many, float64(count(lost))/float64(runs)
	if want := 0.02 / 0.22; math.Abs(share-want) > 0.1*want {
		t.Errorf("%.4f are lost, not %.4f", share, want)
	}
	if math.Abs(length-5) > 0.25 {
		t.Errorf("%.2f are lost in a row, not 5", length)
	}
	direct := chainOf(ruled(t, &Network{}, bursts))
	if !slices.Equal(lost[:5000], direct[:5000]) {
		t.Error("looking back gives another state than following the chain")
	}
}

// chainOf follows the states of a link from its first packet on.
func chainOf(s nodes.Shaper) (bad []bool) {
	x := &s.(shaperAt).Shaper.(*Rules).rules[0]
	state := false
	for n := uint64(1); n <= 5000; n++ {
		u := chance.Dice(x.Seed).Unit(chance.OnLink(chance.ForBurst, nodes.ID(0), 1, 0, n))
		switch {
		case !state:
			state = u < float64(x.Effect.(*effect.Loss).Of.Worsens)
		default:
			state = u < 1-float64(x.Effect.(*effect.Loss).Of.Recovers)
		}
		bad = append(bad, state)
	}
	return bad
}

func TestRulesShape(t *testing.T) {
	const ms = time.Millisecond
	network := Network{Latency: chance.Constant(ms)}
	isToken, _ := kindsOf("token", scene(t, "suzuki-kasami").Spec.Codec())
	tokenKind := uint8(slices.Index(isToken, true))
	cut := func(text string) Fault {
		return Fault{Effect: &effect.Partition{Cut: must(effect.ParseCut(text))}}
	}
	for _, test := range []struct {
		what  string
		fault Fault
		from  nodes.ID
		to    nodes.ID
		kind  uint8
		want  []nodes.Fate // of the first packets
	}{
		{"a delay", Fault{Effect: &effect.Delay{Later: *distribution(t, "2ms")}}, 0, 1, 0,
			[]nodes.Fate{{3 * ms}, {3 * ms}}},
		{"copies", Fault{Effect: &effect.Duplicate{Of: 1}}, 0, 1, 0, []nodes.Fate{{ms, ms}}},
		{"a cut", cut("0/1-2"), 1, 0, 0, []nodes.Fate{{}, {}}},
		{"a cut elsewhere", cut("0/2"), 1, 0, 0, []nodes.Fate{{ms}}},
		{"a loss between others", Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 1}},
			Filter: Filter{Between: effect.CutInto(true, nodes.Group{0}, nodes.Group{1})}},
			1, 0, 0, []nodes.Fate{{ms}}},
		{"a loss between these", Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 1}},
			Filter: Filter{Between: effect.CutInto(true, nodes.Group{0}, nodes.Group{1})}},
			0, 1, 0, []nodes.Fate{{}}},
		{"the second one lost", Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 1}},
			Filter: Filter{Nth: 2}}, 0, 1, 0, []nodes.Fate{{ms}, {}, {ms}}},
		{"the token lost", Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 1}},
			Filter: Filter{Kind: "token"}}, 0, 1, tokenKind, []nodes.Fate{{}}},
		{"another lost", Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 1}},
			Filter: Filter{Kind: "token"}}, 0, 1, 1 - tokenKind,
			[]nodes.Fate{{ms}}},
		{"a loss of another instance", Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 1}},
			Filter: Filter{Instance: new(int32(1))}}, 0, 1, 0,
			[]nodes.Fate{{ms}}},
		{"a loss of this instance", Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 1}},
			Filter: Filter{Instance: new(int32(0))}}, 0, 1, 0,
			[]nodes.Fate{{}}},
		{"a loss on another network", Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 1}},
			Filter: Filter{Network: new(effect.Net(1))}}, 0, 1, 0,
			[]nodes.Fate{{ms}}},
		{"a bandwidth", Fault{Effect: &effect.Bandwidth{Rate: 1000}}, 0, 1, 0,
			[]nodes.Fate{{12 * ms}, {23 * ms}, {34 * ms}}},
	} {
		s := ruled(t, &network, test.fault)
		for i, want := range test.want {
			p := nodes.Packet{From: test.from, To: test.to, Kind: test.kind, Number: uint64(i) + 1, Bytes: 10}
			got := s.Shape(&p, nil)
			if len(got) == 0 && len(want) == 0 {
				continue
			}
			if !slices.Equal(got, want) || p.Loose {
				t.Errorf("%s: packet %d has the fate %v, not %v", test.what, i+1, got, want)
			}
		}
	}
}

// A rule acts on packets that enter a link while it is in force, and counts the packets that it hits.
func TestRulesActWhileInForce(t *testing.T) {
	b := NewSharedState(5)
	faults := []Fault{{Effect: &effect.Partition{Cut: effect.CutInto(false, nodes.Group{0}, nodes.Group{1})}}}
	s, err := (&Network{}).Shaper(1, faults, b, scene(t, "central").Spec.Codec())
	if err != nil {
		t.Fatal(err)
	}
	lost := func(at int64) bool {
		return len(s.Shape(&nodes.Packet{From: 0, To: 1, At: at, Number: 1}, nil)) == 0
	}
	if lost(50) {
		t.Error("a message is lost before the fault has begun")
	}
	b.faults[0].begin(100, 200)
	for at, want := range map[int64]bool{99: false, 100: true, 199: true, 200: false} {
		if lost(at) != want {
			t.Errorf("at %d it is lost: %v", at, !want)
		}
	}
	b.faults[0].heal(150)
	if !lost(149) || lost(150) || b.faults[0].hits.Load() != 3 {
		t.Errorf("healed at 150: lost at 149 %v, at 150 %v; %d hits", lost(149), lost(150),
			b.faults[0].hits.Load())
	}
}

// What is reordered overtakes what was sent before, and nothing else does.
func TestReorderedPacketsOvertake(t *testing.T) {
	for fault, want := range map[string]bool{"reorder": true, "delay": false} {
		f := Fault{Seed: 1, Effect: &effect.Delay{Later: *distribution(t, "uniform:0s,5ms")}}
		if fault == "reorder" {
			f = Fault{Seed: 1, Effect: &effect.Reorder{Later: *distribution(t, "uniform:0s,5ms")}}
		}
		links := nodes.NewLinks(2, ruled(t, &Network{}, f), false)
		overtook := false
		for at := range int64(200) {
			_, reordered := links.Take(&nodes.Packet{From: 0, To: 1, At: 1 + at*int64(time.Millisecond)})
			overtook = overtook || reordered
		}
		if overtook != want {
			t.Errorf("%s: messages overtake others: %v", fault, overtook)
		}
	}
}
