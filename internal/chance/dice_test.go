package chance

import (
	"math"
	"testing"
)

// steps make a neighbour of a roll: each changes the seed, or one field of the roll.
var steps = map[string]func(*Dice, *Roll){
	"seed":    func(d *Dice, _ *Roll) { *d++ },
	"purpose": func(_ *Dice, r *Roll) { r.Purpose++ },
	"from":    func(_ *Dice, r *Roll) { r.Link += 1 << 32 },
	"to":      func(_ *Dice, r *Roll) { r.Link++ },
	"both":    func(_ *Dice, r *Roll) { r.Link += 1<<32 + 1 },
	"kind":    func(_ *Dice, r *Roll) { r.Kind++ },
	"count":   func(_ *Dice, r *Roll) { r.Count++ },
	"copy":    func(_ *Dice, r *Roll) { r.Count |= 1 << 63 },
}

// ordinary returns the i-th of many rolls as they occur in runs: all numbers are small.
func ordinary(i uint64) (Dice, Roll) {
	return Dice(i % 7), OnLink(Purpose(i%11+1), int32(i/7%13), int32(i/3%17), uint8(i%5), i/64)
}

// Neighbouring rolls are independent: the pairs of their first bits, and of their last, are spread evenly.
func TestNeighbouringRollsAreIndependent(t *testing.T) {
	const (
		draws = 1 << 18
		bits  = 4 // of each roll
		cells = 1 << (2 * bits)
	)
	for what, step := range steps {
		var first, last [cells]float64
		for i := range uint64(draws) {
			d, r := ordinary(i)
			a := d.Bits(r)
			step(&d, &r)
			b := d.Bits(r)
			first[a>>(64-bits)<<bits|b>>(64-bits)]++
			last[(a<<bits|b&(1<<bits-1))%cells]++
		}
		for which, counts := range map[string][cells]float64{"first": first, "last": last} {
			const mean = float64(draws) / cells
			chi := 0.0
			for _, n := range counts {
				chi += (n - mean) * (n - mean) / mean
			}
			if sigmas := (chi - (cells - 1)) / math.Sqrt(2*(cells-1)); math.Abs(sigmas) > 5 {
				t.Errorf("%s bits, another %s: chi-square is %.0f, %.1f deviations off", which, what, chi, sigmas)
			}
		}
	}
}

// Each bit of a roll flips every bit of the outcome in half of all cases.
func TestEveryBitOfARollFlipsHalfTheOutcome(t *testing.T) {
	const draws = 4096
	flips := map[string]func(*Dice, *Roll, int){
		"seed":    func(d *Dice, _ *Roll, bit int) { *d ^= 1 << bit },
		"purpose": func(_ *Dice, r *Roll, bit int) { r.Purpose ^= 1 << bit },
		"from":    func(_ *Dice, r *Roll, bit int) { r.Link ^= 1 << (32 + bit%32) },
		"to":      func(_ *Dice, r *Roll, bit int) { r.Link ^= 1 << (bit % 32) },
		"kind":    func(_ *Dice, r *Roll, bit int) { r.Kind ^= 1 << bit },
		"count":   func(_ *Dice, r *Roll, bit int) { r.Count ^= 1 << bit },
	}
	for what, flip := range flips {
		for in := range 64 {
			var flipped [64]float64
			for i := range uint64(draws) {
				d, r := ordinary(i * 97)
				before := d.Bits(r)
				flip(&d, &r, in)
				changed := before ^ d.Bits(r)
				for out := range flipped {
					flipped[out] += float64(changed >> out & 1)
				}
			}
			for out, n := range flipped {
				if sigmas := (n - draws/2) / math.Sqrt(draws/4); math.Abs(sigmas) > 5.5 {
					t.Errorf("bit %d of the %s flips bit %d in %v of %d cases", in, what, out, n, draws)
				}
			}
		}
	}
}
