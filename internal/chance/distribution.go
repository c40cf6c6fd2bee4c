package chance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/internal/suggest"
)

// A Distribution is a distribution of durations, such as latencies, holds and think times. Its zero value is
// the constant 0.
type Distribution struct {
	shape shape
	a, b  time.Duration    // the parameters of the shape
	draws *[]time.Duration // for the shape measured: the measured durations; never changed
}

type shape uint8

const (
	constant    shape = iota // always a
	uniform                  // from a to b
	exponential              // of mean a
	normal                   // of mean a and standard deviation b, cut off at zero
	logNormal                // of median a and 99th percentile b
	pareto                   // of minimum a and 99th percentile b
	measured                 // one of draws, each as likely as the others
)

var shapeNames = [...]string{"constant", "uniform", "exponential", "normal", "log-normal", "pareto",
	"measured"}

// Longest is the longest duration that is drawn, 100 years: the sum of two such times does not overflow. Only
// log-normal and Pareto distributions reach it, since all parameters are at most mostNumber.
const (
	Longest    = 100 * 365 * 24 * time.Hour
	mostNumber = 24 * time.Hour
)

// Constant is the distribution that is always d.
func Constant(d time.Duration) Distribution { return Distribution{a: d} }

// shapeForms shows how each shape is written.
var shapeForms = [...]string{
	constant:    "2ms",
	uniform:     "uniform:1ms,3ms (from, to)",
	exponential: "exponential:2ms (mean)",
	normal:      "normal:2ms,500us (mean, deviation)",
	logNormal:   "log-normal:2ms,9ms (median, 99th percentile)",
	pareto:      "pareto:1ms,20ms (least, 99th percentile)",
	measured:    "measured:1ms,1ms,4ms (each as likely)",
}

// distributionForms describes the texts that ParseDistribution reads, for its errors.
var distributionForms = strings.Join(shapeForms[:measured], ", ") + " or " + shapeForms[measured]

// ParseDistribution reads a distribution: 2ms, uniform:1ms,3ms, exponential:2ms, normal:2ms,500us,
// log-normal:2ms,9ms, pareto:1ms,20ms or measured:1ms,1ms,4ms.
func ParseDistribution(text string) (Distribution, error) {
	name, numbers, named := strings.Cut(text, ":")
	if !named {
		name, numbers = shapeNames[constant], text
	}
	for s, candidate := range shapeNames {
		if candidate == name {
			return parseShape(shape(s), text, strings.Split(numbers, ","))
		}
	}
	return Distribution{}, fmt.Errorf("%q is no length of time: write %s", text, distributionForms)
}

func parseShape(s shape, text string, numbers []string) (Distribution, error) {
	want := 1
	switch s {
	case uniform, normal, logNormal, pareto:
		want = 2
	case measured:
		return parseMeasured(text, numbers)
	}
	if len(numbers) != want {
		wrong, form := "lacks a number", shapeForms[s]
		if len(numbers) > want {
			wrong = "has a number too many"
		}
		if s == constant {
			form = distributionForms
		}
		return Distribution{}, fmt.Errorf("%q %s: write %s", text, wrong, form)
	}
	d := Distribution{shape: s}
	for i, to := range []*time.Duration{&d.a, &d.b}[:want] {
		length, err := parseNumber(s, text, numbers[i])
		if err != nil {
			return Distribution{}, err
		}
		*to = length
	}
	if s == logNormal && (d.a <= 0 || d.b < d.a) {
		return Distribution{},
			fmt.Errorf("%q: the 99th percentile lies above the median, and that above zero", text)
	}
	if s == pareto && (d.a <= 0 || d.b < d.a) {
		return Distribution{}, fmt.Errorf("%q: the 99th percentile lies above the least, "+
			"and that above zero", text)
	}
	if s == uniform && d.b < d.a {
		return Distribution{}, fmt.Errorf("%q ends before it begins: write uniform:%v,%v", text, d.b, d.a)
	}
	return d, nil
}

// parseNumber reads one length of time. text is the whole distribution.
func parseNumber(s shape, text, number string) (time.Duration, error) {
	length, err := time.ParseDuration(strings.TrimSpace(number))
	switch unit := suggest.Unit(number, "ms"); {
	case err != nil && unit != nil && number == text:
		return 0, unit
	case err != nil && unit != nil:
		return 0, fmt.Errorf("%q: %w", text, unit)
	case err != nil && number != "0":
		return 0, fmt.Errorf("%q is no length of time: write %s", text, distributionForms)
	case length < 0:
		return 0, fmt.Errorf("%q is negative: write 0 or a longer time, as in %s", text, shapeForms[s])
	case length > mostNumber:
		return 0, fmt.Errorf("%q is too long: at most %.0fh", text, mostNumber.Hours())
	}
	return length, nil
}

// parseMeasured reads a list of durations that were measured.
func parseMeasured(text string, numbers []string) (Distribution, error) {
	draws := make([]time.Duration, len(numbers))
	for i, number := range numbers {
		length, err := parseNumber(measured, text, number)
		if err != nil {
			return Distribution{}, err
		}
		draws[i] = length
	}
	return Distribution{shape: measured, draws: &draws}, nil
}

// Zero reports whether the duration is always zero.
func (s Distribution) Zero() bool { return s.a == 0 && s.b == 0 && s.draws == nil }

// IsConstant reports whether the duration is always the same.
func (s Distribution) IsConstant() bool { return s.shape == constant }

// Mean returns the mean; for a normal distribution, before it is cut off at zero.
func (s Distribution) Mean() time.Duration {
	switch s.shape {
	case uniform:
		return (s.a + s.b) / 2
	case logNormal:
		sigma := s.sigma()
		return s.times(exp(float64(sigma*sigma) / 2))
	case pareto:
		if s.tail() >= 1 {
			return Longest // the mean is infinite
		}
		return s.times(1 / (1 - s.tail()))
	case measured:
		sum := time.Duration(0)
		for _, d := range *s.draws {
			sum += d / time.Duration(len(*s.draws))
		}
		return sum
	}
	return s.a
}

// Median returns the duration that half of all draws exceed.
func (s Distribution) Median() time.Duration {
	switch s.shape {
	case uniform:
		return s.Mean()
	case exponential:
		return s.times(ln(2))
	case pareto:
		return s.times(exp(s.tail() * ln(2)))
	case measured:
		sorted := slices.Sorted(slices.Values(*s.draws))
		return sorted[(len(sorted)-1)/2]
	}
	return s.a
}

// times returns a multiple of the parameter a, but at most Longest.
func (s Distribution) times(factor float64) time.Duration {
	return time.Duration(min(float64(s.a)*factor, float64(Longest)))
}

// sigma returns the standard deviation of the logarithm of a log-normal distribution.
func (s Distribution) sigma() float64 { return ln(float64(s.b)/float64(s.a)) / normalQuantile(0.99) }

// tail returns the reciprocal of the exponent of a Pareto distribution.
func (s Distribution) tail() float64 { return ln(float64(s.b)/float64(s.a)) / ln(100) }

// Longest returns a duration that at most one draw in a million exceeds.
func (s Distribution) Longest() time.Duration {
	switch s.shape {
	case uniform:
		return s.b
	case exponential:
		return 14 * s.a
	case normal:
		return s.a + 5*s.b
	case logNormal:
		return s.times(exp(5 * s.sigma()))
	case pareto:
		return s.times(exp(s.tail() * ln(1e6)))
	case measured:
		return slices.Max(*s.draws)
	}
	return s.a
}

// Bounds returns the shortest and the longest duration that can be drawn, if the distribution is bounded.
func (s Distribution) Bounds() (least, most time.Duration, bounded bool) {
	switch s.shape {
	case constant:
		return s.a, s.a, true
	case uniform:
		return s.a, s.b, true
	case measured:
		return slices.Min(*s.draws), slices.Max(*s.draws), true
	}
	return 0, 0, false
}

// Draw returns the duration for the roll r.
func (s Distribution) Draw(d Dice, r Roll) time.Duration {
	switch s.shape {
	case uniform:
		return s.a + time.Duration(d.Unit(r)*float64(s.b-s.a))
	case exponential:
		return time.Duration(d.Exponential(r) * float64(s.a))
	case normal:
		return max(0, s.a+time.Duration(float64(s.b)*d.Normal(r)))
	case logNormal:
		return s.times(exp(float64(s.sigma() * d.Normal(r))))
	case pareto:
		return s.times(exp(float64(s.tail() * d.Exponential(r))))
	case measured:
		return (*s.draws)[d.Below(r, len(*s.draws))]
	}
	return s.a
}

// String prints the distribution as ParseDistribution reads it.
func (s Distribution) String() string {
	switch s.shape {
	case constant:
		return s.a.String()
	case exponential:
		return fmt.Sprintf("exponential:%v", s.a)
	case measured:
		var numbers []string
		for _, draw := range *s.draws {
			numbers = append(numbers, draw.String())
		}
		return shapeNames[measured] + ":" + strings.Join(numbers, ",")
	}
	return fmt.Sprintf("%s:%v,%v", shapeNames[s.shape], s.a, s.b)
}

// Set sets s to what ParseDistribution reads. Set, String and Type implement pflag.Value.
func (s *Distribution) Set(text string) (err error) {
	*s, err = ParseDistribution(text)
	return err
}

// Type names the flag's type in help texts.
func (s *Distribution) Type() string { return "distribution" }

// MarshalText writes the distribution as ParseDistribution reads it.
func (s Distribution) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to what ParseDistribution reads.
func (s *Distribution) UnmarshalText(text []byte) error { return s.Set(string(text)) }

// zipfWeight returns the weight of the k-th thing, from 1: k to the power of -s.
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

// Zipf returns a number for r, from 0 to n-1, from Zipf's distribution of exponent s: the probability of k is
// proportional to k+1 to the power of -s. With s = 0 it is uniform. It takes time proportional to n.
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

// ZipfShare returns the probability that Zipf returns k.
func ZipfShare(k, n int, s float64) float64 { return zipfWeight(k+1, s) / zipfSum(n, s) }
