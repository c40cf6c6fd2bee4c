package host_test

import (
	"fmt"
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/host"
)

// Subjects are short, whatever the name of the run: clients and brokers parse them at each message. No run
// hears another of the same broker, or the control plane, whose subjects begin with "ts.".
func TestSubjectsAreShortAndOfOneRun(t *testing.T) {
	of := map[string]string{}
	for i := range 10_000 {
		run := strings.Repeat(fmt.Sprintf("%012x", i), 1+i%3)
		s := host.SubjectsOf(run)
		all := []string{s.Everyone(), s.Resource(), s.Frozen()}
		for id := range nodes.ID(11) {
			all = append(all, s.Node(id))
		}
		for _, subject := range all {
			if len(subject) > len("Xk3-9q.frozen") || strings.ContainsAny(subject, " *>") ||
				strings.HasPrefix(subject, "ts.") || strings.Count(subject, ".") != 1 {
				t.Fatalf("run %s has the subject %q", run, subject)
			}
			if other := of[subject]; other != "" {
				t.Fatalf("%q is a subject of both %s and %s", subject, run, other)
			}
			of[subject] = run
		}
		if got := s.Node(5); len(got) > len("Xk3-9q.5") {
			t.Fatalf("each message to node 5 of run %s carries %q", run, got)
		}
	}
}
