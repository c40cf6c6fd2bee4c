package effect

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Share is a part of a whole, from 0 to 1.
type Share float64

// ParseShare reads a share: 2% or 0.02.
func ParseShare(text string) (Share, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(number, 64)
	if percent && err == nil { // a hundredth of what is written, exactly
		digits, exponent, _ := strings.Cut(strings.ToLower(number), "e")
		power, _ := strconv.Atoi(exponent)
		x, err = strconv.ParseFloat(fmt.Sprintf("%se%d", digits, power-2), 64)
	}
	if err != nil || !(x >= 0 && x <= 1) { // nor is it a NaN
		return 0, fmt.Errorf("%q is no share: write one from 0%% to 100%%, as in 2%% or 0.02", text)
	}
	return Share(x), nil
}

// String writes the share as ParseShare reads it.
func (s Share) String() string {
	if s == 0 {
		return "0%"
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(float64(s), 'e', -1, 64), "e")
	power, _ := strconv.Atoi(exponent)
	whole, part, _ := strings.Cut(digits, ".")
	switch power += 2; {
	case power < 0:
		return "0." + strings.Repeat("0", -power-1) + whole + part + "%"
	case power >= len(part):
		return whole + part + strings.Repeat("0", power-len(part)) + "%"
	}
	return whole + part[:power] + "." + part[power:] + "%"
}

// MarshalText writes the share as ParseShare reads it.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseShare in place.
func (s *Share) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShare(string(text))
	return err
}

// Set is ParseShare in place, for flags.
func (s *Share) Set(text string) error { return s.UnmarshalText([]byte(text)) }

// Type names the value of a flag.
func (s *Share) Type() string { return "share" }

// Losses says which messages of a link are lost: each with the same chance or, as links of E. N. Gilbert
// ("Capacity of a burst-noise channel", Bell System Technical Journal 39, 1960), none while the link is good
// and all while it is bad.
type Losses struct {
	Rate     Share // if the two others are zero
	Worsens  Share // the chance, with each message, that a good link becomes bad
	Recovers Share // that a bad one becomes good
}

// lossForms lists what ParseLosses takes.
const lossForms = "2% (each message by chance) or burst:1%,20% (with each message a good link becomes bad " +
	"with a chance of 1%, and a bad one, which loses all, becomes good with a chance of 20%)"

// leastChange bounds the chances of bursts from below: the state of a link is found by looking back.
const leastChange = 0.001

// ParseLosses reads losses: 2%, or burst:1%,20%.
func ParseLosses(text string) (l Losses, err error) {
	chances, burst := strings.CutPrefix(text, "burst:")
	if !burst {
		if l.Rate, err = ParseShare(text); err != nil {
			err = fmt.Errorf("%q says no losses: write %s", text, lossForms)
		}
		return l, err
	}
	worsens, recovers, two := strings.Cut(chances, ",")
	l.Worsens, err = ParseShare(worsens)
	if err == nil && two {
		l.Recovers, err = ParseShare(recovers)
	}
	switch {
	case err != nil || !two:
		return Losses{}, fmt.Errorf("%q says no losses: write %s", text, lossForms)
	case l.Worsens < leastChange || l.Recovers < leastChange || l.Worsens+l.Recovers > 1:
		return Losses{}, fmt.Errorf("%q: each of the two chances is %v at least, "+
			"and both together are 100%% at most", text, Share(leastChange))
	}
	return l, nil
}

// IsZero reports whether nothing is lost.
func (l Losses) IsZero() bool { return l.Rate == 0 && l.Worsens == 0 }

// String writes the losses as ParseLosses reads them.
func (l Losses) String() string {
	if l.Worsens > 0 {
		return fmt.Sprintf("burst:%v,%v", l.Worsens, l.Recovers)
	}
	return l.Rate.String()
}

// MarshalText writes the losses as ParseLosses reads them.
func (l Losses) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is ParseLosses in place.
func (l *Losses) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLosses(string(text))
	return err
}

// Set is ParseLosses in place, for flags.
func (l *Losses) Set(text string) error { return l.UnmarshalText([]byte(text)) }

// Type names the value of a flag.
func (l *Losses) Type() string { return "losses" }

// Bytes is how many bytes pass in a second.
type Bytes int64

var byteUnits = []struct {
	name  string
	bytes int64
}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// ParseBytes reads a bandwidth: 500B, 100KB or 1MB, in a second.
func ParseBytes(text string) (Bytes, error) {
	word := strings.TrimSuffix(strings.ToUpper(text), "/S")
	for _, u := range byteUnits {
		number, found := strings.CutSuffix(word, u.name)
		if !found {
			continue
		}
		x, err := strconv.ParseFloat(number, 64)
		if bytes := x * float64(u.bytes); err == nil && bytes >= 1 && bytes <= 1e12 {
			return Bytes(math.Round(bytes)), nil
		}
		break
	}
	return 0, fmt.Errorf("%q is no bandwidth: write the bytes that pass in a second, "+
		"as in 500B, 100KB or 1MB", text)
}

// String writes the bandwidth as ParseBytes reads it.
func (b Bytes) String() string {
	for _, u := range byteUnits {
		if int64(b) >= u.bytes {
			return strconv.FormatFloat(float64(b)/float64(u.bytes), 'f', -1, 64) + u.name
		}
	}
	return "0B"
}

// MarshalText writes the bandwidth as ParseBytes reads it.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText is ParseBytes in place.
func (b *Bytes) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBytes(string(text))
	return err
}

// Set is ParseBytes in place, for flags.
func (b *Bytes) Set(text string) error { return b.UnmarshalText([]byte(text)) }

// Type names the value of a flag.
func (b *Bytes) Type() string { return "bytes" }
