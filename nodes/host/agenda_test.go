package host

import (
	"math/rand/v2"
	"testing"
)

func TestAgendaGivesTasksInOrder(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		var a agenda
		var last task
		for a.made < 500 || len(a.tasks) > 0 {
			if a.made < 500 && r.IntN(3) > 0 {
				a.add(task{at: last.at + r.Int64N(10)})
				continue
			}
			if len(a.tasks) == 0 {
				continue
			}
			next := a.take()
			if next.at < last.at || next.at == last.at && next.order < last.order {
				t.Fatalf("seed %d: after (%d, %d) came (%d, %d)", seed, last.at, last.order, next.at, next.order)
			}
			last = next
		}
	}
}
