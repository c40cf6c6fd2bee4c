package effect

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Share is a part of a whole, from 0 to 1.
type Share float64

// UnmarshalText reads a share: 2% or 0.02.
func (s *Share) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(string(text)), "%")
	x, err := strconv.ParseFloat(number, 64)
	if percent && err == nil { // divides by 100 in the text, so that the value is exact
		digits, exponent, _ := strings.Cut(strings.ToLower(number), "e")
		power, _ := strconv.Atoi(exponent)
		x, err = strconv.ParseFloat(fmt.Sprintf("%se%d", digits, power-2), 64)
	}
	if err != nil || !(x >= 0 && x <= 1) { // the condition also refuses NaN
		return fmt.Errorf("%q is not a share: write one from 0%% to 100%%, as in 2%% or 0.02", text)
	}
	*s = Share(x)
	return nil
}

// String writes the share as UnmarshalText reads it.
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

// MarshalText writes the share as UnmarshalText reads it.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Losses says which messages of a link are lost: each with probability Rate or, in the burst model of E. N.
// Gilbert ("Capacity of a burst-noise channel", Bell System Technical Journal 39, 1960), all while the link
// is bad and none while it is good.
type Losses struct {
	Rate     Share // used if Worsens and Recovers are 0
	Worsens  Share // the probability, with each message, that a good link becomes bad
	Recovers Share // the probability, with each message, that a bad link becomes good
}

// lossForms describes the texts that losses are read from.
const lossForms = "2% (each message by chance) or burst:1%,20% (with each message a good link becomes bad " +
	"with a chance of 1%, and a bad one, which loses all, becomes good with a chance of 20%)"

// leastChange is the least probability of each change of a link. To find the state of a link, Loss looks back
// over the packets since the last change.
const leastChange = 0.001

// UnmarshalText reads losses: 2%, or burst:1%,20%.
func (l *Losses) UnmarshalText(text []byte) error {
	var of Losses
	chances, burst := strings.CutPrefix(string(text), "burst:")
	shares, into := strings.Split(chances, ","), []*Share{&of.Worsens, &of.Recovers}
	if !burst {
		shares, into = []string{chances}, []*Share{&of.Rate}
	}
	wrong := len(shares) != len(into)
	for i := 0; i < len(into) && !wrong; i++ {
		wrong = into[i].UnmarshalText([]byte(shares[i])) != nil
	}
	switch {
	case wrong:
		return fmt.Errorf("%q are not losses: write %s", text, lossForms)
	case burst && (of.Worsens < leastChange || of.Recovers < leastChange || of.Worsens+of.Recovers > 1):
		return fmt.Errorf("%q: each of the two chances is %v at least, and both together are 100%% at most",
			text, Share(leastChange))
	}
	*l = of
	return nil
}

// IsZero reports whether nothing is lost.
func (l Losses) IsZero() bool { return l.Rate == 0 && l.Worsens == 0 }

// String writes the losses as UnmarshalText reads them.
func (l Losses) String() string {
	if l.Worsens > 0 {
		return fmt.Sprintf("burst:%v,%v", l.Worsens, l.Recovers)
	}
	return l.Rate.String()
}

// MarshalText writes the losses as UnmarshalText reads them.
func (l Losses) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Bytes is a bandwidth in bytes per second.
type Bytes int64

var byteUnits = []struct {
	name  string
	bytes int64
}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// UnmarshalText reads a bandwidth per second: 500B, 100KB or 1MB.
func (b *Bytes) UnmarshalText(text []byte) error {
	word := strings.TrimSuffix(strings.ToUpper(string(text)), "/S")
	for _, u := range byteUnits {
		number, found := strings.CutSuffix(word, u.name)
		if !found {
			continue
		}
		x, err := strconv.ParseFloat(number, 64)
		if bytes := x * float64(u.bytes); err == nil && bytes >= 1 && bytes <= 1e12 {
			*b = Bytes(math.Round(bytes))
			return nil
		}
		break
	}
	return fmt.Errorf("%q is not a bandwidth: write the bytes that pass in a second, "+
		"as in 500B, 100KB or 1MB", text)
}

// String writes the bandwidth as UnmarshalText reads it.
func (b Bytes) String() string {
	for _, u := range byteUnits {
		if int64(b) >= u.bytes {
			return strconv.FormatFloat(float64(b)/float64(u.bytes), 'f', -1, 64) + u.name
		}
	}
	return "0B"
}

// MarshalText writes the bandwidth as UnmarshalText reads it.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }
