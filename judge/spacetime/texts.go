package spacetime

import (
	"cmp"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// keepTexts keeps what messages say, by their places among the records of their nodes.
func (f *Fold) keepTexts(logs []*history.NodeLog) {
	for _, l := range logs {
		if len(l.Texts) > 0 {
			f.texts = map[nodes.ID][]history.Text{}
		}
	}
	if f.texts == nil {
		return
	}
	for _, l := range logs {
		for i := range l.Trace {
			f.texts[l.Node] = append(f.texts[l.Node], l.Text(i))
		}
	}
}

// Name returns the name of the kind of a message, or its type if that was not declared.
func (f *Extract) Name(m *Message) string {
	return cmp.Or(f.text(m).Type, f.Stack.Codec().Name(int(m.Kind)))
}

// Body returns what a message of a foreign program says, shortened; empty: nothing is known.
func (f *Extract) Body(m *Message) string { return f.text(m).Body }

func (f *Extract) text(m *Message) (says history.Text) {
	id, place := m.From, m.sent
	if m.Sent == Unknown {
		id, place = m.To, m.over
	}
	if all := f.texts[id]; int(place) < len(all) {
		says = all[place]
	}
	return says
}
