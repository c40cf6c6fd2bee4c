package chance

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, x, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want)+1e-300 {
		t.Errorf("%s(%v) is %v, not %v", what, x, got, want)
	}
}

func TestExactFunctionsAgreeWithPackageMath(t *testing.T) {
	d := Dice(1)
	for i := range uint64(100_000) {
		u := d.Unit(Roll{Count: i})
		if u == 0 {
			continue
		}
		for _, x := range []float64{u, 1 - u/1000, u * 1e-12, u * 1e9} {
			near(t, "ln", x, ln(x), math.Log(x), 1e-15)
		}
		x := 40*u - 20
		near(t, "exp", x, exp(x), math.Exp(x), 1e-13)
		near(t, "normalQuantile", u, normalQuantile(u), math.Sqrt2*math.Erfinv(2*u-1), 1e-8)
	}
	for _, x := range []float64{1, math.Sqrt2, math.Sqrt2 / 2, 0.5, 2, 1e300, 1e-300} {
		near(t, "ln", x, ln(x), math.Log(x), 1e-15)
	}
}
