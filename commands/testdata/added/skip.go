package effect

import (
	"errors"
	"time"

	"turnstile/nodes"
)

// Skip drops the messages of a link whose numbers are multiples of Every.
type Skip struct {
	plain
	Every int `yaml:"skip"`
}

var skip = Kind{Key: "skip", Layer: OfLinks, Says: "every so manieth message is lost", Example: "skip: 3",
	Filters: ofMessages, Breaks: nodes.NoLoss, Zero: new(Skip),
	Flag: "have every so manieth message of a link lost"}

func (s *Skip) Check(time.Duration, bool) (string, error) {
	if s.Every > 0 {
		return "", nil
	}
	return "skip", errors.New("skip takes a number from 1")
}

func (s *Skip) Start(*Place) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if p.Number%uint64(s.Every) == 0 {
			return fate[:begun], true
		}
		return fate, false
	}
}
