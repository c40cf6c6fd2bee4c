package effect

import (
	"fmt"

	"turnstile/nodes"
)

// Skip has every so manieth message of a link lost.
type Skip struct {
	plain
	Every int `yaml:"skip"`
}

var skip = Kind{Key: "skip", Layer: OfLinks, Says: "every so manieth message is lost", Example: "skip: 3",
	Filters: ofMessages, Breaks: nodes.NoLoss, New: func() Effect { return new(Skip) },
	Keys: []Key{{Name: "skip", Says: "have every so manieth message of a link lost", NoZero: "is no fault",
		NoZeroFlag: "is no fault"}}}

func (*Skip) Kind() *Kind              { return &skip }
func (s *Skip) Text() (string, string) { return fmt.Sprint(s.Every), "" }

func (s *Skip) Start(*Place) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if p.Number%uint64(s.Every) == 0 {
			return fate[:begun], true
		}
		return fate, false
	}
}
