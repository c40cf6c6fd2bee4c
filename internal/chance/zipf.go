package chance

// zipfWeight is that of the k-th of several things, from 1: k to the power of -s.
func zipfWeight(k int, s float64) float64 {
	if s == 0 {
		return 1
	}
	return exp(-float64(s * ln(float64(k))))
}

// zipfSum adds up the weights of the first n things.
func zipfSum(n int, s float64) (sum float64) {
	for k := 1; k <= n; k++ {
		sum += zipfWeight(k, s)
	}
	return sum
}

// Zipf returns a number for r, from 0 to n-1, from Zipf's distribution of exponent s: the chance of k is in
// proportion to k+1 to the power of -s. With an exponent of 0 all have the same. It takes time in proportion
// to n.
func (d Dice) Zipf(r Roll, n int, s float64) int {
	if s == 0 {
		return d.Below(r, n)
	}
	left := float64(d.Unit(r) * zipfSum(n, s))
	for k := range n - 1 {
		if left -= zipfWeight(k+1, s); left < 0 {
			return k
		}
	}
	return n - 1
}

// ZipfShare returns how likely Zipf is to return k.
func ZipfShare(k, n int, s float64) float64 { return zipfWeight(k+1, s) / zipfSum(n, s) }
