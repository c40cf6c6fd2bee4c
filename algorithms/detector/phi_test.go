package detector

import (
	"math"
	"strings"
	"testing"
)

// phiBounds are the squares of the quantiles of the normal distribution.
func TestPhiBounds(t *testing.T) {
	for i, bound := range phiBounds {
		z := math.Sqrt(float64(bound) / 100)
		if phi := -math.Log10(math.Erfc(z/math.Sqrt2) / 2); math.Abs(phi-float64(i+1)) > 0.006 {
			t.Errorf("%d: phi is %v there", i+1, phi)
		}
	}
}

// ticks lets so many ticks pass, and returns after how many of them node 0 was suspected; 0: it was not.
func (s *scene) ticks(n int) (after int) {
	for i := range n {
		if strings.HasSuffix(s.tick(), "suspect 0") {
			after = i + 1
		}
	}
	return after
}

// A peer whose heartbeats come each period, to the tick, is suspected a period and z times the least
// deviation after the last one; the more its intervals differ, the later.
func TestPhiGoesByTheIntervals(t *testing.T) {
	for _, test := range []struct {
		intervals []int // in ticks, again and again
		mean, dev float64
	}{
		{[]int{10}, 10, 1},
		{[]int{5, 15}, 10, 5},
		{[]int{10, 10, 10, 30}, 15, 8.66},
	} {
		s := sceneOf(t, "phi:period=1s,threshold=8,window=8,deviation=100ms", 1, 0)
		s.start()
		beat := uint32(1)
		s.hear(0, phiBeat{0, beat})
		for range 8 {
			for _, ticks := range test.intervals {
				s.ticks(ticks)
				beat++
				s.hear(0, phiBeat{0, beat})
				s.hear(0, phiBeat{0, beat - 1}) // overtaken, and a copy: no intervals
				s.hear(0, phiBeat{0, beat})
			}
		}
		want := int(math.Ceil(test.mean + 5.612*test.dev))
		if after := s.ticks(100); after != want {
			t.Errorf("%v: suspected after %d ticks, not %d", test.intervals, after, want)
		}
	}
}

// A node is trusted when it is heard of, and its past counts only as long as it is not restarted.
func TestPhi(t *testing.T) {
	s := sceneOf(t, "phi:period=1s,deviation=100ms", 1, 7)
	expect(t,
		s.start(), "all<beat{7 1} 3<beat{7 1} 0s-1s",
		s.tick(), "all<beat{7 2} 3<beat{7 2} 100ms-100ms",
		s.hear(0, phiBeat{0, 1}), "",
	)
	for range 14 {
		expect(t, strings.TrimPrefix(s.tick(), "all<beat{7 3} 3<beat{7 3} "), "100ms-100ms")
	}
	expect(t,
		s.tick(), "100ms-100ms suspect 2 suspect 3", // 10+5.612 ticks have passed
		s.tick(), "100ms-100ms suspect 0",
		s.hear(0, phiBeat{0, 2}), "trust 0",
		s.hear(2, phiBeat{1, 1}), "trust 2",
		s.hear(2, phiBeat{0, 9}), "", // on its way since before the crash
	)
	expect(t, s.tick(), "100ms-100ms")
}
