package nodes

import "fmt"

// A TimerName is what a kind of timer is called, in schedules and for people.
type TimerName struct {
	Kind    TimerKind
	Name    string // in a word, such as retry
	PerPeer bool   // it is kept per peer
	Server  bool   // it is one of the machines of servers; otherwise of all that have no other of its kind
}

// TimerName returns what a kind of timer of the machine of node id is called; nil if the row does not say.
func (s *Spec) TimerName(c Config, id ID, kind TimerKind) (name *TimerName) {
	for i := range s.Timers {
		t := &s.Timers[i]
		if t.Kind == kind && (!t.Server || int(id) >= c.N) && (name == nil || t.Server) {
			name = t
		}
	}
	return name
}

// SayTimer returns in words which timer of the machine of node id t is: retry, or silence for 2 if it is kept
// per peer; its numbers if the row gives it no name.
func (s *Spec) SayTimer(c Config, id ID, t Timer) string {
	name := s.TimerName(c, id, t.Kind)
	switch {
	case name == nil:
		return fmt.Sprintf("%d for %d", t.Kind, t.Peer)
	case name.PerPeer:
		return fmt.Sprintf("%s for %d", name.Name, t.Peer)
	}
	return name.Name
}
