package chance

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestDiceAreWhatTheyWere(t *testing.T) {
	// A seed means the same for ever, or stored runs could not be made again.
	r := OnLink[int32](ForDelay, 1, 2, 3, 4)
	if got, want := Dice(42).Bits(r), uint64(0xf3ec108856c8eaff); got != want {
		t.Errorf("the roll is %#x and was %#x", got, want)
	}
}

func TestDiceDependOnEveryPartOfTheRoll(t *testing.T) {
	base := OnLink[int32](ForThink, 1, 2, 3, 4)
	seen := map[uint64]string{Dice(1).Bits(base): "the base"}
	for what, bits := range map[string]uint64{
		"seed":    Dice(2).Bits(base),
		"purpose": Dice(1).Bits(OnLink[int32](ForHold, 1, 2, 3, 4)),
		"from":    Dice(1).Bits(OnLink[int32](ForThink, 2, 2, 3, 4)),
		"to":      Dice(1).Bits(OnLink[int32](ForThink, 1, 3, 3, 4)),
		"swapped": Dice(1).Bits(OnLink[int32](ForThink, 2, 1, 3, 4)),
		"kind":    Dice(1).Bits(OnLink[int32](ForThink, 1, 2, 4, 4)),
		"count":   Dice(1).Bits(OnLink[int32](ForThink, 1, 2, 3, 5)),
	} {
		if other, taken := seen[bits]; taken {
			t.Errorf("a roll with another %s is that of %s", what, other)
		}
		seen[bits] = what
	}
}

// The mean and the median of many draws differ from those of the distribution by at most five standard
// errors. The deviation differs by at most 2%.
func TestDistributionsDrawTheirDistribution(t *testing.T) {
	const draws = 100_000
	for _, test := range []struct {
		text            string
		mean, deviation float64 // in microseconds
	}{
		{"0s", 0, 0},
		{"2ms", 2000, 0},
		{"uniform:1ms,3ms", 2000, 2000 / math.Sqrt(12)},
		{"exponential:2ms", 2000, 2000},
		{"normal:2ms,100us", 2000, 100},
		// sigma is ln(2)/2.3263 = 0.29796: the mean is 2 exp(sigma²/2), the deviation that times
		// sqrt(exp(sigma²)-1).
		{"log-normal:2ms,4ms", 2090.78, 637.2},
		// The exponent is ln(100)/ln(2) = 6.6439.
		{"pareto:1ms,2ms", 1177.183, 211.93},
		{"measured:1ms,1ms,4ms", 2000, 1414.2},
	} {
		s, err := ParseDistribution(test.text)
		if err != nil {
			t.Fatal(err)
		}
		var sum, squares float64
		below, above, median := 0, 0, float64(s.Median())/1e3
		for i := range uint64(draws) {
			x := float64(s.Draw(Dice(1), Roll{Purpose: ForDelay, Count: i})) / 1e3
			if x < median {
				below++
			} else if x > median {
				above++
			}
			if x < 0 || x > float64(s.Longest())/1e3*1.5 {
				t.Fatalf("%s: a draw of %v us", test.text, x)
			}
			sum, squares = sum+x, squares+x*x
		}
		if most := draws/2 + 5*math.Sqrt(draws)/2; float64(max(below, above)) > most {
			t.Errorf("%s: %d draws are below its median, %v us, and %d above", test.text, below, median, above)
		}
		mean := sum / draws
		deviation := math.Sqrt(max(0, squares/draws-mean*mean))
		if math.Abs(mean-test.mean) > 5*test.deviation/math.Sqrt(draws)+1e-3 {
			t.Errorf("%s: the mean is %v us, not %v", test.text, mean, test.mean)
		}
		if math.Abs(deviation-test.deviation) > 0.02*test.deviation+1e-2 {
			t.Errorf("%s: the deviation is %v us, not %v", test.text, deviation, test.deviation)
		}
		if got := float64(s.Mean()) / 1e3; math.Abs(got-test.mean) > 0.01 {
			t.Errorf("%s says that its mean is %v us", test.text, got)
		}
	}
}

func TestDistributionTextRoundTrip(t *testing.T) {
	for _, text := range []string{"0s", "100µs", "2ms", "uniform:1ms,3ms", "exponential:2ms",
		"normal:2ms,500µs", "log-normal:2ms,9ms", "pareto:1ms,20ms", "measured:1ms,1ms,4ms"} {
		s, err := ParseDistribution(text)
		if err != nil || s.String() != text {
			t.Errorf("%q is read as %v (%v)", text, s, err)
		}
		var back Distribution
		b, _ := s.MarshalText()
		if err := back.UnmarshalText(b); err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%v is written as %q and read as %v (%v)", s, b, back, err)
		}
	}
}

func TestParseDistributionSaysWhatIsWrong(t *testing.T) {
	for text, says := range map[string]string{
		"":                   "is no length of time",
		"5":                  "5 has no unit: did you mean 5ms?",
		"uniform:1ms,3":      `"uniform:1ms,3": 3 has no unit: did you mean 3ms?`,
		"fast":               "is no length of time",
		"-2ms":               "negative",
		"gamma:2ms":          "is no length of time",
		"uniform:2ms":        "lacks a number: write uniform:1ms,3ms (from, to)",
		"normal:1ms":         "lacks a number: write normal:2ms,500us (mean, deviation)",
		"uniform:3ms,1ms":    "write uniform:1ms,3ms",
		"normal:1ms,-1ms":    "negative",
		"log-normal:2ms,1ms": "lies above the median",
		"pareto:2ms,1ms":     "lies above the least",
		"measured:1ms,x":     "is no length of time",
		"2ms,3ms":            "has a number too many: write 2ms, uniform:",
		"uniform:1ms,25h":    "too long: at most 24h",
	} {
		if _, err := ParseDistribution(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("ParseDistribution(%q) says %v, not %q", text, err, says)
		}
	}
}

func FuzzParseDistribution(f *testing.F) {
	f.Add("normal:2ms,500us")
	f.Add("uniform:1ms, 3h")
	f.Add("measured:1ms,3h")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseDistribution(text)
		if err != nil {
			return
		}
		if back, err := ParseDistribution(s.String()); err != nil || !reflect.DeepEqual(back, s) {
			t.Fatalf("%q is read as %v, and that as %v (%v)", text, s, back, err)
		}
		if d := s.Draw(1, Roll{}); d < 0 {
			t.Fatalf("%q draws %v", text, d)
		}
	})
}
