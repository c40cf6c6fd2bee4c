package stats

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"turnstile/internal/figure"
)

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

func nearAll(a, b []float64) bool { return slices.EqualFunc(a, b, near) }

func (e Estimate) list() []float64 { return []float64{e.Value, e.Low, e.High} }

// Lengths of the teeth of guinea pigs that had vitamin C, as ascorbic acid and as orange juice: ToothGrowth
// of R.
var (
	acid = []float64{4.2, 11.5, 7.3, 5.8, 6.4, 10, 11.2, 11.2, 5.2, 7, 16.5, 16.5, 15.2, 17.3, 22.5, 17.3, 13.6,
		14.5, 18.8, 15.5, 23.6, 18.5, 33.9, 25.5, 26.4, 32.5, 26.7, 21.5, 23.3, 29.5}
	juice = []float64{15.2, 21.5, 17.6, 9.7, 14.5, 10, 8.2, 9.4, 16.5, 9.7, 19.7, 23.3, 23.6, 26.4, 20, 25.2,
		25.8, 21.2, 14.5, 27.3, 25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23}
)

// The results match R 4.2.2. Without ties they are those of wilcox.test. With ties the ends of an interval
// are the sorted differences at the quantiles of qwilcox.
func TestPublishedShifts(t *testing.T) {
	for _, test := range []struct {
		name  string
		x, y  []float64
		want  Estimate
		p, to float64 // p as it was published, and to what it was rounded
	}{
		// Permeability of the human chorioamnion at term, and between 12 and 26 weeks: M. Hollander and
		// D. A. Wolfe, "Nonparametric Statistical Methods", 1973, examples 4.1, 4.3 and 4.4. The interval
		// has a confidence of 96%, and the p of the book, 0.1272, is one-sided.
		{"Hollander and Wolfe", []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46},
			[]float64{1.15, 0.88, 0.90, 0.74, 1.21}, Estimate{-0.305, -0.76, 0.15, 0}, 2 * 0.1272, 1e-4},
		// With ties: as wilcox.test of R and npar1way of SAS have it, at https://psiaims.github.io/CAMIS.
		{"CAMIS", []float64{0.878, 0.647, 0.598, 2.050, 1.060, 1.290, 1.060, 3.140, 1.290},
			[]float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}, Estimate{0.56, -0.37, 1.183, 0}, 0, 1},
		// With ties: as wilcox.test of R has it, at https://github.com/kassambara/rstatix/issues/45.
		{"ToothGrowth", acid, juice, Estimate{4, -0.1, 8.5, 0}, 0.0645, 5e-5},
	} {
		if got := Shift(test.x, test.y); !nearAll(got.list(), test.want.list()) {
			t.Errorf("%s: the shift is %v, not %v", test.name, got, test.want)
		}
		if p := MannWhitney(test.x, test.y); math.Abs(p-test.p) > test.to {
			t.Errorf("%s: p is %v, not %v", test.name, p, test.p)
		}
	}
}

func TestMedians(t *testing.T) {
	// The true median lies between the least and the greatest of six numbers with probability 1 - 2/64.
	if got, want := Median([]float64{5, 3, 9, 4, 1, 6}), (Estimate{4.5, 1, 9, 0.96875}); got != want {
		t.Errorf("%v, not %v", got, want)
	}
	five := Median([]float64{5, 3, 9, 4, 1})
	if five.Value != 4 || !math.IsInf(five.Low, -1) || !math.IsInf(five.High, 1) {
		t.Errorf("five numbers have an interval: %v", five)
	}
}

// The interval of a median is as far from the least value as from the greatest. As published, of seven and of
// eight numbers it has all, and of fifty it goes from the 18th to the 33rd (H. A. David and H. N. Nagaraja,
// "Order Statistics", 2003, section 7.1).
func TestIntervalsOfMediansAreEven(t *testing.T) {
	of := map[int]float64{6: 1, 7: 1, 8: 1, 9: 2, 11: 2, 12: 3, 20: 6, 50: 18, 3000: 1446}
	for n, k := range of {
		var x []float64
		for i := range n {
			x = append(x, float64(n-i)) // from n down to 1
		}
		e := Median(x)
		if e.Low != k || e.High != float64(n+1)-k || e.Coverage < 0.95 {
			t.Errorf("of %d numbers the interval is %v to %v, with %v; not %v to %v", n, e.Low, e.High, e.Coverage, k,
				float64(n+1)-k)
		}
	}
}

func TestMediansOfFigures(t *testing.T) {
	n, atLeast := figure.Number, figure.AtLeast
	for _, c := range []struct {
		of   []figure.Figure
		want figure.Figure
	}{
		{nil, figure.Figure{}},
		{[]figure.Figure{n(3), n(1), n(2)}, n(2)},
		{[]figure.Figure{n(4), n(1), n(2), n(3)}, n(2.5)},
		{[]figure.Figure{n(3), {}, n(2)}, figure.Figure{}},
		{[]figure.Figure{n(3), atLeast(5), n(2)}, n(3)},
		{[]figure.Figure{n(3), atLeast(2), n(4)}, atLeast(3)},
	} {
		if got := MedianOf(c.of); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.of, got, c.want)
		}
	}
}

func TestFewNumbersHaveNoInterval(t *testing.T) {
	three := Shift([]float64{1, 2, 3}, []float64{11, 12, 13})
	if three.Value != 10 || three.Bounded() {
		t.Errorf("three numbers each: %v", three)
	}
	if four := Shift([]float64{1, 2, 3, 4}, []float64{11, 12, 13, 14}); four != (Estimate{10, 7, 13, 0}) {
		t.Errorf("four numbers each: %v", four)
	}
	if one := Shift([]float64{2}, []float64{-1}); one.Value != -3 || one.Bounded() {
		t.Errorf("one number each: %v", one)
	}
}

func sample(dice *rand.Rand, n, distinct int) []float64 {
	x := make([]float64, n)
	for i := range x {
		if x[i] = dice.NormFloat64(); distinct > 0 {
			x[i] = float64(dice.IntN(distinct)) - 3
		}
	}
	return x
}

// Differences match the result of sorting all of them.
func TestDifferencesAsSorted(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		distinct := dice.IntN(2) * (1 + dice.IntN(6))
		x, y := sample(dice, 1+dice.IntN(9), distinct), sample(dice, 1+dice.IntN(9), distinct)
		slices.Sort(x)
		slices.Sort(y)
		var all []float64
		for _, from := range x {
			for _, to := range y {
				all = append(all, to-from)
			}
		}
		slices.Sort(all)
		for k := range all {
			if got := difference(x, y, k+1); got != all[k] {
				t.Fatalf("difference %d of %v and %v is %v, not %v", k+1, x, y, got, all[k])
			}
		}
	}
}

// The interval and the test agree: without ties, zero is outside of the interval where p is below the level.
func TestIntervalsAgreeWithTheTest(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	outside := 0
	for range 400 {
		x, y := sample(dice, 2+dice.IntN(9), 0), sample(dice, 2+dice.IntN(9), 0)
		for i := range y {
			y[i] += 1.2
		}
		e, p := Shift(x, y), MannWhitney(x, y)
		if excluded := e.Low > 0 || e.High < 0; excluded != (p <= Level) {
			t.Fatalf("p is %v, and the interval %v, of %v and %v", p, e, x, y)
		} else if excluded {
			outside++
		}
	}
	if outside < 100 {
		t.Errorf("only %d of 400 intervals are beside zero", outside)
	}
}

// With ties, if the interval excludes zero, the test is significant as well.
func TestIntervalsWithTiesAreNotTooNarrow(t *testing.T) {
	dice := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		x, y := sample(dice, 4+dice.IntN(6), 8), sample(dice, 4+dice.IntN(6), 8)
		for i := range y {
			y[i] += 2
		}
		if e, p := Shift(x, y), MannWhitney(x, y); e.Low > 0 && p > Level {
			t.Errorf("p is %v, and the interval %v, of %v and %v", p, e, x, y)
		}
	}
}

// Where refuted changes from the exact distribution to the normal one, its results change little.
func TestManyNumbers(t *testing.T) {
	exact, normal := refuted(exactUpTo, exactUpTo), refuted(exactUpTo+1, exactUpTo+1)
	if exact < 900 || normal-exact < 20 || normal-exact > 60 {
		t.Errorf("%d values of 50 and 50 refute, %d of 51 and 51", exact, normal)
	}
	dice := rand.New(rand.NewPCG(7, 8))
	x, y := sample(dice, 5000, 0), sample(dice, 5000, 0)
	for i := range y {
		y[i] += 0.5
	}
	if e := Shift(x, y); e.Low > 0.5 || e.High < 0.5 || e.High-e.Low > 0.1 {
		t.Errorf("the shift of two samples of 5,000 by 0.5 is %v", e)
	}
}

// Table A.5 of Hollander and Wolfe, among others: the greatest value of the statistic that refutes at 5%.
func TestCriticalValues(t *testing.T) {
	for _, test := range [][3]int{{4, 4, 0}, {5, 5, 2}, {6, 6, 5}, {7, 7, 8}, {8, 8, 13}, {10, 10, 23},
		{10, 5, 8}, {20, 20, 127}, {3, 3, -1}, {3, 5, 0}} {
		if got := refuted(test[0], test[1]) - 1; got != test[2] {
			t.Errorf("of %d and %d numbers: %d, not %d", test[0], test[1], got, test[2])
		}
	}
}

func TestHolm(t *testing.T) {
	for _, test := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.03}, []float64{0.03}},
		// https://en.wikipedia.org/wiki/Holm-Bonferroni_method
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		// https://stdlib.io/docs/api/latest/@stdlib/stats/padjust
		{[]float64{0.319, 0.201, 0.4, 0.374, 0.113}, []float64{0.957, 0.804, 0.957, 0.957, 0.565}},
		{[]float64{0.9, 0.8}, []float64{1, 1}},
	} {
		if got := Holm(test.p); !nearAll(got, test.want) {
			t.Errorf("%v: %v, not %v", test.p, got, test.want)
		}
	}
}

// With so many numbers in each sample, a difference can be shown in so many comparisons, and in no more.
func TestHowManyAreEnough(t *testing.T) {
	for n, comparisons := range map[int]int{4: 1, 5: 6, 6: 23, 7: 85, 8: 321} {
		if got := Enough(comparisons); got != n {
			t.Errorf("%d comparisons take %d numbers, not %d", comparisons, got, n)
		}
		if got := Enough(comparisons + 1); got != n+1 {
			t.Errorf("%d comparisons take %d numbers, not %d", comparisons+1, got, n+1)
		}
	}
	x, y := []float64{1, 2, 3, 4, 5, 6}, []float64{11, 12, 13, 14, 15, 16}
	if got, want := MannWhitney(x, y), LeastP(6, 6); !near(got, want) || !near(want, 2.0/924) {
		t.Errorf("the least p of six and six is %v, and computed %v", got, want)
	}
}

func TestMannWhitneyAtItsLimits(t *testing.T) {
	for _, test := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 1, 1}, []float64{1, 1, 1}, 1},
		{[]float64{1}, nil, 1},
		{[]float64{1}, []float64{2}, 1},
		{[]float64{1, 2, 2}, []float64{2}, 1},
	} {
		if got := MannWhitney(test.x, test.y); got != test.want {
			t.Errorf("%v and %v: %v, not %v", test.x, test.y, got, test.want)
		}
	}
}

// With ties the test matches the share of all ways to split the values in two that differ as much, whichever
// sample comes first.
func TestMannWhitneyOfTies(t *testing.T) {
	dice := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		x, y := sample(dice, 1+dice.IntN(5), 3), sample(dice, 1+dice.IntN(8), 3)
		got, want := MannWhitney(x, y), splits(x, y)
		if math.Abs(got-want) > 1e-9 || math.Abs(MannWhitney(y, x)-got) > 1e-9 {
			t.Fatalf("p of %v and %v is %v, and %v the other way round, not %v", x, y, got, MannWhitney(y, x), want)
		}
	}
	if p := MannWhitney([]float64{0, 0, 5, 6}, []float64{0, 0, 0, 0, 0, 0, 0, 4}); !near(p, 2*45.0/495) {
		t.Errorf("p is %v", p)
	}
}

// splits is MannWhitney by counting all splits of the values.
func splits(x, y []float64) float64 {
	all := slices.Concat(x, y)
	statistic := func(in uint) (u float64) {
		for i, a := range all {
			for j, b := range all {
				if in>>i&1 == 1 && in>>j&1 == 0 {
					u += 1 + float64(cmp.Compare(a, b))
				}
			}
		}
		return u
	}
	is := statistic(1<<len(x) - 1)
	var below, above, count float64
	for in := range uint(1) << len(all) {
		if bits.OnesCount(in) != len(x) {
			continue
		}
		u := statistic(in)
		count++
		if u <= is {
			below++
		}
		if u >= is {
			above++
		}
	}
	return min(1, 2*min(below, above)/count)
}
