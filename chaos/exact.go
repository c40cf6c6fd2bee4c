package chaos

import "math"

// The functions here give the same bits on every architecture, so that a seed gives the same history on all.
// Those of package math do not: some are in assembly, and compilers may fuse x*y + z into one operation that
// rounds once. An explicit conversion of the product forbids that, hence the many below.

// ln returns the natural logarithm of a positive number, as FreeBSD's e_log.c computes it: x = 2^k (1+f), and
// with s = f/(2+f), ln(1+f) = f - f²/2 + s (f²/2 + R(s²)).
func ln(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
	)
	f, k := frexp(x)
	if f < math.Sqrt2/2 {
		f, k = f*2, k-1
	}
	f--
	s := f / (2 + f)
	z := float64(s * s)
	// Horner's rule by hand: this is drawn for every message of a simulated run.
	p := float64(1.479819860511658591e-01*z) + 1.531383769920937332e-01
	p = float64(p*z) + 1.818357216161805012e-01
	p = float64(p*z) + 2.222219843214978396e-01
	p = float64(p*z) + 2.857142874366239149e-01
	p = float64(p*z) + 3.999999999940941908e-01
	p = float64(p*z) + 6.666666666666735130e-01
	r := float64(z * p)
	half := float64(0.5 * float64(f*f))
	tail := float64(s*float64(half+r)) + float64(float64(k)*ln2Lo)
	return float64(float64(k)*ln2Hi) - (float64(half-tail) - f)
}

// frexp is math.Frexp for positive numbers, faster for those that are not tiny.
func frexp(x float64) (f float64, k int) {
	const bias, mantissa = 1022, 1<<52 - 1
	b := math.Float64bits(x)
	if b>>52 == 0 {
		return math.Frexp(x)
	}
	return math.Float64frombits(b&mantissa | bias<<52), int(b>>52) - bias
}

// exp returns e to the power of a number of moderate size, to some 15 digits: 2^k times the series for what
// is left.
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

// normalQuantile returns what a normal variate of mean 0 and deviation 1 stays below with probability p,
// above 0 and below 1, to a relative error of 1.15e-9 (P. J. Acklam's rational approximation, 2003).
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

// poly returns the value at x of the polynomial with the coefficients c, that of x⁰ first.
func poly(x float64, c ...float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}
