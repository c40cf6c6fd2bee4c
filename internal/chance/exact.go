package chance

import "math"

// The functions here give the same bits on every architecture, so a seed gives the same history on all.
// Package math does not: it has assembly, and compilers may fuse x*y + z into one operation that rounds once.
// The many explicit conversions of products below forbid that.

// ln returns the natural logarithm of a number of at least 2^-1022, to two units in the last place. With x =
// 2^k m, m near 1, and c the first bits of m, ln(x) = k ln(2) + ln(c) + ln(1+r), where r = (m-c)/c is tiny.
// ln(c) and 1/c are in a table, since ln is computed for every message of a simulated run.
func ln(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01 // its last bits are zero, so that k*ln2Hi is exact
		ln2Lo = 1.90821492927058770002e-10
	)
	b := math.Float64bits(x)
	exponent := (b - lnFirst<<lnShift) &^ (1<<52 - 1)
	m := b - exponent
	k := float64(int64(exponent) >> 52)
	first := (m + 1<<(lnShift-1)) >> lnShift
	c := &lnTable[first-lnFirst]
	r := float64((math.Float64frombits(m) - math.Float64frombits(first<<lnShift)) * c.inverse)
	r2 := float64(r * r)
	high := float64(r*(1./5)) - 1./4 - float64(r2*(1./6)) // last terms of r - r²/2 + r³/3 - r⁴/4 + r⁵/5 - r⁶/6
	tail := float64(r2 * (float64(r*(1./3)) - 1./2 + float64(r2*high)))
	return float64(k*ln2Hi) + c.ln + (r + (tail + float64(k*ln2Lo)))
}

// The table of ln has a row for each number c from about √½ to √2 whose mantissa is zero after its first 8
// bits: the bits of the c of row i are (lnFirst+i)<<lnShift.
const (
	lnShift = 52 - 8
	lnFirst = 0x3fe6a
)

var lnTable = makeLnTable()

type lnRow struct{ ln, inverse float64 } // ln(c) and 1/c, for a c of the table

func makeLnTable() (table [257]lnRow) {
	for i := range table {
		c := math.Float64frombits((lnFirst + uint64(i)) << lnShift)
		table[i] = lnRow{lnSeries(c), 1 / c}
	}
	return table
}

// lnSeries returns the natural logarithm of a number from √½ to √2: with s = (c-1)/(c+1), it is the sum of
// 2s^n/n over all odd n.
func lnSeries(c float64) float64 {
	s := (c - 1) / (c + 1)
	sum := 0.0
	for n := 25.0; n >= 1; n -= 2 {
		sum = float64(sum*float64(s*s)) + 1/n
	}
	return 2 * s * sum
}

// exp returns e to the power of x, a number of moderate size, to some 15 digits. With x = k ln(2) + r, it is
// 2^k times the series of e to the power of r.
func exp(x float64) float64 {
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	r := x - float64(k*math.Ln2)
	sum, term := 1.0, 1.0
	for i := 1.0; i <= 14; i++ {
		term = float64(term*r) / i
		sum += term
	}
	return math.Ldexp(sum, int(k))
}

// normalQuantile returns the value that a normal variate of mean 0 and deviation 1 stays below with
// probability p, where 0 < p < 1, to a relative error of 1.15e-9 (P. J. Acklam's rational approximation,
// 2003).
func normalQuantile(p float64) float64 {
	tail := func(q float64) float64 {
		return poly(q, 2.938163982698783e+00, 4.374664141464968e+00, -2.549732539343734e+00,
			-2.400758277161838e+00, -3.223964580411365e-01, -7.784894002430293e-03) /
			poly(q, 1, 3.754408661907416e+00, 2.445134137142996e+00, 3.224671290700398e-01, 7.784695709041462e-03)
	}
	const low = 0.02425
	switch {
	case p < low:
		return tail(math.Sqrt(-2 * ln(p)))
	case p > 1-low:
		return -tail(math.Sqrt(-2 * ln(1-p)))
	}
	q := p - 0.5
	r := float64(q * q)
	return float64(q*poly(r, 2.506628277459239e+00, -3.066479806614716e+01, 1.383577518672690e+02,
		-2.759285104469687e+02, 2.209460984245205e+02, -3.969683028665376e+01)) /
		poly(r, 1, -1.328068155288572e+01, 6.680131188771972e+01, -1.556989798598866e+02,
			1.615858368580409e+02, -5.447609879822406e+01)
}

// poly returns the value at x of the polynomial with the coefficients c, from x⁰ on.
func poly(x float64, c ...float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}
