package host

import "turnstile/nodes"

// A task is something that a host will do at a time.
type task struct {
	at      int64 // in the run's nanoseconds
	order   uint64
	what    what
	gen     uint32
	timer   nodes.Timer
	arrival arrival
}

// what a task is about.
type what uint8

const (
	toBegin   what = iota // issuing begins
	toEnd                 // issuing ends
	toRequest             // the client's next request is due
	toRelease             // its critical section is over
	toTimeout             // a machine's timer runs out
	toDeliver             // a delayed message arrives
)

// An arrival is a message that has come.
type arrival struct {
	envelope
	message nodes.Message
}

// An agenda is a heap of tasks, the earliest first; of those at one time, the first made first.
type agenda struct {
	tasks []task
	made  uint64
}

func (a *agenda) add(t task) {
	a.made++
	t.order = a.made
	a.tasks = append(a.tasks, t)
	for i := len(a.tasks) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a.before(i, parent) {
			return
		}
		a.tasks[i], a.tasks[parent] = a.tasks[parent], a.tasks[i]
		i = parent
	}
}

// take removes the earliest task.
func (a *agenda) take() task {
	first, last := a.tasks[0], len(a.tasks)-1
	a.tasks[0], a.tasks[last] = a.tasks[last], task{}
	a.tasks = a.tasks[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if a.before(child, least) {
				least = child
			}
		}
		if least == i {
			return first
		}
		a.tasks[i], a.tasks[least] = a.tasks[least], a.tasks[i]
		i = least
	}
}

func (a *agenda) before(i, j int) bool {
	if a.tasks[i].at != a.tasks[j].at {
		return a.tasks[i].at < a.tasks[j].at
	}
	return a.tasks[i].order < a.tasks[j].order
}
