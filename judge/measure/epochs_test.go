package measure

import (
	"testing"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An epoch is new if it is higher than the epochs of all earlier entries. It counts for the fault that began
// last. A later entry in a lower epoch does not count. Without epochs the columns are empty.
func TestEpochsSinceFaults(t *testing.T) {
	tp := marked()
	for i, number := range []uint32{1, 2} {
		tp.add(nodes.None, int64(300+400*i), history.FaultBegan, number, 0)
		tp.add(nodes.None, int64(500+400*i), history.FaultHealed, number, 0)
	}
	for i, fence := range []uint64{10, 11, 21, 40, 41, 22, 40, 71} { // at 120, 220, ..., in epochs of ten
		at := int64(120 + 100*i)
		tp.visit(0, at, at, at+1, at+2)
		events := tp.log(0).events
		events[len(events)-2].Fence = fence
	}
	for _, epoch := range []func(uint64) uint64{nil, func(fence uint64) uint64 { return fence / 10 }} {
		h := tp.history()
		s := section.New(h.Header().StampError, nil)
		f := NewFaults(s, epoch)
		h.Run(s)
		rows := f.Rows(func(int) string { return "x" }, nil)
		want := [2][3]string{{"1", "4", "2"}, {"4", "7", "1"}}
		if epoch == nil {
			want = [2][3]string{}
		}
		for i, row := range rows {
			wantFigure(t, "epoch before", row.EpochBefore, want[i][0])
			wantFigure(t, "epoch after", row.EpochAfter, want[i][1])
			wantFigure(t, "new epochs", row.EpochsNew, want[i][2])
			wantFigure(t, "silence", row.SilenceS, [...]string{"0.0001", "0.000279"}[i])
		}
	}
}
