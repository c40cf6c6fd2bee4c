package agent

import (
	"fmt"
	"maps"
	"slices"

	"turnstile/bench/netcut"
)

// cut has the kernel drop the packets of the run's ports that come from other hosts or go there. Orders come
// by other ports.
func (s *session) cut(o *order) error {
	s.cutting.Lock()
	defer s.cutting.Unlock()
	select {
	case <-s.over:
		return fmt.Errorf("host %s: the run %s is over", s.agent.Name, s.run)
	default:
	}
	table, err := netcut.For(s.agent.Name)
	if err == nil {
		err = table.Cut(s.cutID(o.Cut), o.Ports)
	}
	if err != nil {
		return fmt.Errorf("host %s: %w", s.agent.Name, err)
	}
	if s.cuts == nil {
		s.cuts = map[int]bool{}
	}
	s.cuts[o.Cut] = true
	s.agent.say("the run %s cuts the network off", s.run)
	return nil
}

// healAll has all packets of the run pass again, which is over.
func (s *session) healAll() {
	s.cutting.Lock()
	all := slices.Collect(maps.Keys(s.cuts))
	s.cutting.Unlock()
	for _, number := range all {
		if err := s.heal(number); err != nil {
			s.agent.say("a cut of the network is left: %v", err)
		}
	}
}

// heal has them pass again.
func (s *session) heal(number int) error {
	s.cutting.Lock()
	defer s.cutting.Unlock()
	if !s.cuts[number] {
		return nil
	}
	table, err := netcut.For(s.agent.Name)
	if err == nil {
		err = table.Heal(s.cutID(number))
	}
	if err != nil {
		return fmt.Errorf("host %s: %w", s.agent.Name, err)
	}
	delete(s.cuts, number)
	s.agent.say("the run %s has the network back", s.run)
	return nil
}

// cutID names a cut of the run.
func (s *session) cutID(number int) string { return fmt.Sprintf("%s-%d", s.run, number) }

// clearCuts heals what an earlier agent of this name has left, which may have been killed, and finds out
// whether the kernel can cut this host off.
func (a *Agent) clearCuts() {
	a.network, _ = netcut.Namespace()
	if err := netcut.Check(); err != nil {
		a.netCut = err.Error()
		return
	}
	table, err := netcut.For(a.Name)
	if err == nil {
		err = table.Clear()
	}
	if err != nil {
		a.netCut = err.Error()
	}
}
