// Package english writes numbers for people.
package english

import "strconv"

// Thousands writes a whole number with its digits in groups of three.
func Thousands(x float64) string {
	digits := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count writes how many there are of a thing.
func Count[N int | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(float64(n)) + " " + many
}
