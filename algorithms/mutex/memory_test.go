package mutex

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// No machine or message may share memory with another, nor hold a map, a pointer, a func or a
// channel: only then can a simulator clone and compare them without knowing what they are.
func TestAlgorithmsArePlainAndUnshared(t *testing.T) {
	for _, algo := range Table {
		t.Run(algo.Name, func(t *testing.T) {
			for seed := range soak.Pick[uint64](1, 3, 100) {
				if faults := memoryFaults(t, algo, 4, seed); len(faults) > 0 {
					t.Errorf("seed %d: %v", seed, faults)
				}
			}
		})
	}
}

// The check finds shared memory and a map, and accepts slices that are not shared.
func TestSharingIsSeen(t *testing.T) {
	shared := make([]uint64, 4)
	for name, machine := range map[string]func(nodes.Config) nodes.Machine{
		"a slice that all machines have": func(nodes.Config) nodes.Machine { return &sharer{mine: shared} },
		"a part of that slice":           func(nodes.Config) nodes.Machine { return &sharer{mine: shared[1:2]} },
		"a slice kept from a message":    func(nodes.Config) nodes.Machine { return &sharer{keep: true} },
		"a map": func(nodes.Config) nodes.Machine {
			return &mapHolder{names: map[int]string{}}
		},
	} {
		algo := &algorithm.Algorithm{Spec: nodes.Spec{
			New:      machine,
			Messages: []nodes.MessageKind{{Zero: tyList{}}},
		}}
		if faults := memoryFaults(t, algo, 3, 1); len(faults) == 0 {
			t.Errorf("%s is not seen", name)
		}
	}
	algo := &algorithm.Algorithm{Spec: nodes.Spec{
		New:      func(nodes.Config) nodes.Machine { return &sharer{mine: make([]uint64, 2)} },
		Messages: []nodes.MessageKind{{Zero: tyList{}}},
	}}
	if faults := memoryFaults(t, algo, 3, 1); len(faults) > 0 {
		t.Errorf("a slice of one's own is taken for %v", faults)
	}
}

type tyList struct{ List []uint64 }

// A sharer enters at once. If keep is set, it keeps the slice of a message that it receives.
type sharer struct {
	mine []uint64
	keep bool
}

func (s *sharer) Request(env *nodes.Env) {
	env.Broadcast(tyList{[]uint64{1, 2}})
	env.Grant()
}
func (s *sharer) Release(*nodes.Env) {}
func (s *sharer) Receive(_ *nodes.Env, _ nodes.ID, m nodes.Message) {
	if s.keep {
		s.mine = m.(tyList).List
	}
}

type mapHolder struct {
	sharer
	names map[int]string
}

// memoryFaults runs an algorithm and returns what was wrong with the memory of its machines.
func memoryFaults(t *testing.T, algo *algorithm.Algorithm, n int, seed uint64) (faults []string) {
	var machines []nodes.Machine
	runWatched(t, algo, n, seed, func(m nodes.Machine, received nodes.Message, handle func()) {
		handle()
		if !slices.Contains(machines, m) {
			machines = append(machines, m)
		}
		if len(faults) == 0 {
			faults = memory(machines, received)
		}
	})
	return faults
}

// memory returns what is wrong with the memory of machines and of a message that one has received.
func memory(machines []nodes.Machine, received nodes.Message) []string {
	var w walker
	for i, m := range machines {
		w.owner = fmt.Sprintf("machine %d", i)
		w.walk(reflect.ValueOf(m).Elem())
	}
	if received != nil {
		w.owner = fmt.Sprintf("%T", received)
		w.walk(reflect.ValueOf(received))
	}
	slices.SortFunc(w.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(w.spans); i++ {
		if a, b := w.spans[i-1], w.spans[i]; b.from < a.to {
			w.faults = append(w.faults, a.owner+" shares memory with "+b.owner)
		}
	}
	return w.faults
}

type (
	// A walker finds all memory that values refer to.
	walker struct {
		owner  string
		spans  []span
		faults []string
	}
	span struct {
		from, to uintptr
		owner    string
	}
)

func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			w.walk(v.Field(i))
		}
	case reflect.Array, reflect.Slice:
		if v.Kind() == reflect.Slice && v.Cap() > 0 && v.Type().Elem().Size() > 0 {
			size := uintptr(v.Cap()) * v.Type().Elem().Size()
			w.spans = append(w.spans, span{v.Pointer(), v.Pointer() + size, w.owner})
		}
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Map, reflect.Pointer, reflect.Func, reflect.Chan, reflect.Interface,
		reflect.UnsafePointer, reflect.Uintptr:
		w.faults = append(w.faults, fmt.Sprintf("%s holds a %v", w.owner, v.Type()))
	}
}
