package replay

import (
	"bytes"
	"slices"
)

// crowds reports whether as many messages like a new one as the schedule allows are on their way.
func (g *Stage) crowds(f Flight) bool {
	if g.schedule.Copies == 0 {
		return false
	}
	codec := g.stack.Codec()
	content := codec.Append(nil, int(f.Kind), f.Message)
	there := 0
	for _, other := range g.Flying {
		if other.From == f.From && other.To == f.To && other.Instance == f.Instance && other.Kind == f.Kind &&
			slices.Equal(codec.Append(nil, int(f.Kind), other.Message), content) {
			there++
		}
	}
	return there >= g.schedule.Copies
}

// Place returns which of the messages of its link with the same name of their kind a flight is, from 1. Of
// equal ones it is the first of its age.
func (g *Stage) Place(p *Flight) (count int) {
	codec := g.stack.Codec()
	want := codec.Append(nil, int(p.Kind), p.Message)
	for _, f := range g.Flying {
		if f.From == p.From && f.To == p.To && f.Instance == p.Instance && g.kind(f) == codec.Name(int(p.Kind)) {
			count++
			if f.Kind == p.Kind && f.Window == p.Window &&
				bytes.Equal(codec.Append(nil, int(f.Kind), f.Message), want) {
				break
			}
		}
	}
	return count
}
