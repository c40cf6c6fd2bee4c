package play

import "fmt"

// A Told is a known step, for a list.
type Told struct {
	Text  string   `json:"text"`  // as in a schedule
	Story []string `json:"story"` // what happened in it; empty: nothing, or it is still to come
}

// Told returns the known steps after from, up to to.
func (s *Session) Told(from, to int) ([]Told, error) {
	if from < 0 || to > len(s.schedule.Steps) || from > to {
		return nil, fmt.Errorf("steps %d to %d: there are steps 0 to %d", from, to, len(s.schedule.Steps))
	}
	all := []Told{}
	for i := from; i < to; i++ {
		t := Told{Text: s.schedule.Steps[i].String(), Story: []string{}}
		if i < s.at {
			t.Story = append(t.Story, s.stage.Story[s.told[i]:s.told[i+1]]...)
		}
		all = append(all, t)
	}
	return all, nil
}
