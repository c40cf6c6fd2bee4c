package bench

import (
	"cmp"
	"fmt"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/port"
)

// CheckedFaults returns what the checks must know of faults. If unnamed is set, the keys of clients may not
// name them: a fault that deletes the key of the holder may then delete that of the next holder.
func CheckedFaults(faults []chaos.Fault, unnamed bool) (all []check.Fault) {
	for i := range faults {
		f := &faults[i]
		kind := effect.KindOf(f.Effect)
		ofNodes := kind.Role == port.Node
		asked := check.Fault{Text: f.String(), OfLinks: f.OfMessages(), ForGood: f.ForGood(), Breaks: f.Breaks(),
			Waits: !f.Timed(), Again: f.Again, ByChance: f.ByChance(), Leaves: f.Leaves(), Unbounded: kind.Weighs,
			Hits: f.HitsNode(), Cuts: f.CutsOff(), Stops: kind.Stops && ofNodes, Sets: kind.Sets && ofNodes,
			Freezes: kind.Stops && kind.Role == port.Server,
			Spares:  (ofNodes || effect.OfClients(f.Effect)) && !(unnamed && effect.DeletesHeld(f.Effect))}
		asked.Slows = asked.Breaks&(nodes.NoPause|nodes.Timing) != 0 && !asked.OfLinks && !kind.Sets
		if cut := f.Parts(); cut != nil {
			asked.Separates, asked.Part, asked.Blocks = cut.Parts, cut.Part, cut.Blocks
		}
		all = append(all, asked)
	}
	return all
}

// namesNobody reports whether the keys of clients may not name them: clients of the user's own choose theirs.
func (j *Job) namesNobody() bool { return j.Config.Options[foreign.ClientOption] != "" }

// CheckPause returns an error if a fault that stops processes or connections does not suit the run.
func (j *Job) CheckPause(f *chaos.Fault) error {
	if lasts := cmp.Or(f.For, j.Duration-f.At); effect.KindOf(f.Effect).Holds && lasts >= j.LongestPause() {
		return fmt.Errorf("%v: a pause of a process or connection must be shorter than %v: shorten it, or use "+
			"--patience %v", f, j.LongestPause(), lasts/10)
	}
	return nil
}

// FaultIn returns a function that describes a fault by its number, without the times, which have columns of
// their own in faults.csv.
func FaultIn(faults []chaos.Fault) func(number int) string {
	return func(number int) string {
		if number < 1 || number > len(faults) {
			return fmt.Sprintf("fault %d", number)
		}
		return faults[number-1].What()
	}
}
