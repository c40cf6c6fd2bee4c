package check

import "testing"

// If nodes ask a process for the resource, the process reads the account and notes the fence number before
// the node stamps its entry. So a refusal may be stamped before the entry that caused it. That is a
// contradiction only if the resource is a file.
func TestARefusalMayBeSeenBeforeItsCause(t *testing.T) {
	for _, test := range []struct {
		name        string
		run         func(w *world)
		file, asked Outcome // findings of the check "witnesses", for a file and for a process
	}{
		{"refused before the later entry is stamped",
			func(w *world) { w.under(0, 2); w.refused(0); w.visit(1, 3) }, Inconclusive, Valid},
		{"refused, and nobody entered", func(w *world) { w.under(0, 2); w.refused(0) }, Inconclusive, Inconclusive},
		{"refused because of one that died on its way in", func(w *world) {
			w.under(0, 2)
			w.ask(1)
			w.refused(0)
			w.crash(1)
		}, Inconclusive, Valid},
		{"money lost by two whose stamps lie apart", func(w *world) {
			w.Fenced = false
			w.under(0, 0)
			w.exit(0)
			w.under(1, 0)
			e := lastEvent(w.log(1))
			e.Count, e.Value, w.read[1] = 2, e.Value-1, e.Value-1
			w.exit(1)
		}, Inconclusive, Valid},
		{"money lost, and the register denies it", func(w *world) {
			w.Fenced = false
			w.under(0, 0)
			w.exit(0)
			w.under(1, 0)
			e := lastEvent(w.log(1))
			e.Value, w.read[1] = e.Value-1, e.Value-1
			w.exit(1)
		}, Inconclusive, Inconclusive},
	} {
		w := leasing(test.run)()
		for asked, want := range map[bool]Outcome{false: test.file, true: test.asked} {
			w.Asked = asked
			if f := finding(t, w.judge(), "witnesses"); f.Outcome != want {
				t.Errorf("%s: asked %t: %v: %s", test.name, asked, f.Outcome, f.Says)
			}
		}
	}
}
