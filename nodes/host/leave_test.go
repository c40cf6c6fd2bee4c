package host

import (
	"testing"
	"time"
)

// The time in which a program has to answer that its node leaves is counted while the node does not stand
// still, and no more once the program has answered.
func TestAProgramHasTimeToLeave(t *testing.T) {
	h := &host{tasks: newTasks(), departs: &departure{left: leaveLimit}}
	h.now = int64(time.Minute) // it stood still
	for range 9 {
		h.missed()
		if next := h.tasks.Pop(); h.err != nil || next.what != toMiss || next.at != h.now+int64(leaveTick) {
			t.Fatalf("%+v, %v", next, h.err)
		}
	}
	h.departs.left = 0 // it has answered
	if h.missed(); h.err != nil || h.tasks.Len() > 0 {
		t.Errorf("%v, %d tasks", h.err, h.tasks.Len())
	}
}
