package chance

import (
	"fmt"
	"strings"
	"time"
)

// A Distribution is a distribution of durations, such as latencies, holds and think times. Its zero value is
// the constant 0.
type Distribution struct {
	shape shape
	a, b  time.Duration // the two numbers of the shape
}

type shape uint8

const (
	constant    shape = iota // a
	uniform                  // from a to b
	exponential              // of mean a
	normal                   // of mean a and standard deviation b, cut off at zero
	logNormal                // of median a and 99th percentile b
)

var shapeNames = [...]string{"constant", "uniform", "exponential", "normal", "log-normal"}

// Longest is the longest duration that is drawn, 100 years, so that sums of times do not overflow. Only a
// log-normal distribution comes near it, since its numbers are at most mostNumber.
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
}

// distributionForms lists what ParseDistribution takes, for its errors.
var distributionForms = strings.Join(shapeForms[:logNormal], ", ") + " or " + shapeForms[logNormal]

// ParseDistribution reads a distribution: 2ms, uniform:1ms,3ms, exponential:2ms, normal:2ms,500us or
// log-normal:2ms,9ms.
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
	if s == uniform || s == normal || s == logNormal {
		want = 2
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
		length, err := time.ParseDuration(strings.TrimSpace(numbers[i]))
		if err != nil && numbers[i] != "0" {
			return Distribution{}, fmt.Errorf("%q is no length of time: write %s", text, distributionForms)
		}
		if length < 0 {
			return Distribution{},
				fmt.Errorf("%q is negative: write 0 or a longer time, as in %s", text, shapeForms[s])
		}
		if length > mostNumber {
			return Distribution{}, fmt.Errorf("%q is too long: at most %.0fh", text, mostNumber.Hours())
		}
		*to = length
	}
	if s == logNormal && (d.a <= 0 || d.b < d.a) {
		return Distribution{},
			fmt.Errorf("%q: the 99th percentile lies above the median, and that above zero", text)
	}
	if s == uniform && d.b < d.a {
		return Distribution{}, fmt.Errorf("%q ends before it begins: write uniform:%v,%v", text, d.b, d.a)
	}
	return d, nil
}

// Zero reports whether the duration is always zero.
func (s Distribution) Zero() bool { return s.a == 0 && s.b == 0 }

// IsConstant reports whether the duration is always the same.
func (s Distribution) IsConstant() bool { return s.shape == constant }

// Mean returns the mean; that of a normal distribution is the mean before it is cut off at zero.
func (s Distribution) Mean() time.Duration {
	switch s.shape {
	case uniform:
		return (s.a + s.b) / 2
	case logNormal:
		sigma := s.sigma()
		return s.times(exp(float64(sigma*sigma) / 2))
	}
	return s.a
}

// times returns a multiple of the median of a log-normal distribution, or Longest if that is shorter.
func (s Distribution) times(factor float64) time.Duration {
	return time.Duration(min(float64(s.a)*factor, float64(Longest)))
}

// sigma returns the standard deviation of the logarithm of a log-normal distribution.
func (s Distribution) sigma() float64 { return ln(float64(s.b)/float64(s.a)) / normalQuantile(0.99) }

// Longest returns a duration that fewer than one draw in a million exceeds.
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
	}
	return fmt.Sprintf("%s:%v,%v", shapeNames[s.shape], s.a, s.b)
}

// Set is ParseDistribution in place. Set, String and Type implement pflag.Value.
func (s *Distribution) Set(text string) (err error) {
	*s, err = ParseDistribution(text)
	return err
}

// Type names the flag's type in help texts.
func (s *Distribution) Type() string { return "distribution" }

// MarshalText writes the distribution as ParseDistribution reads it.
func (s Distribution) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseDistribution in place.
func (s *Distribution) UnmarshalText(text []byte) error { return s.Set(string(text)) }
