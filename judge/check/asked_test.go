package check

import "testing"

// A process that is asked for the resource reads the account for an entry, and heeds its fence number, before
// the stamp of that. So what it has decided may be seen before its cause, which is nothing against it; of a
// file that would be.
func TestARefusalMayBeSeenBeforeItsCause(t *testing.T) {
	for _, test := range []struct {
		name        string
		run         func(w *world)
		file, asked Outcome // what the witnesses say
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
