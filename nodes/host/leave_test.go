package host

import (
	"testing"
	"time"
)

// A program has a limited time to answer that its node leaves. The time stops while the node stands still,
// and ends with the answer.
func TestAProgramHasTimeToLeave(t *testing.T) {
	h := &host{tasks: newTasks(), departs: &departure{left: leaveLimit}}
	h.now = int64(time.Minute) // it stood still
	for range 9 {
		if h.stays() {
			t.Fatal("its time is over")
		}
		if next := h.tasks.Pop(); next.what != toMiss || next.at != h.now+int64(leaveTick) {
			t.Fatalf("%+v", next)
		}
	}
	if !h.stays() {
		t.Error("it has stayed for its time, and nobody says so")
	}
	h.departs.left = 0 // it has answered
	if h.stays() || h.tasks.Len() > 0 {
		t.Errorf("it has answered, and has to; %d tasks", h.tasks.Len())
	}
}
