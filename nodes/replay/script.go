package replay

import "turnstile/nodes"

// A script is what the current step says of what happens within it.
type script struct {
	answers []int // that Choose has not used yet
	refused bool  // Choose asked for an answer that does not apply
	chose   bool  // Choose was asked
	after   int   // so many saves and messages of the step its node crashes; 0: it does not, or has
}

// choose answers Choose by what the step says, or else by zero.
func (s *script) choose(_ nodes.ID, _ int32, n int) int {
	s.chose = true
	if len(s.answers) == 0 {
		return 0
	}
	x := s.answers[0]
	s.answers = s.answers[1:]
	if x < 0 || x >= n {
		s.refused = true
		return 0
	}
	return x
}

// between takes a node down in the middle of a step that says so.
func (s *script) between(p *nodes.Process, done int) {
	if done == s.after {
		s.after = 0
		p.Crash()
	}
}
