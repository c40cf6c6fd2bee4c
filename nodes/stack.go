package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// An Instance is an algorithm with its configuration. It has one machine at every node.
type Instance struct {
	Spec   *Spec
	Config Config
}

// String writes an instance as name:option=value,..., with the options whose values were given.
func (in Instance) String() string {
	var options []string
	for _, name := range slices.Sorted(maps.Keys(in.Config.Options)) {
		options = append(options, name+"="+in.Config.Options[name])
	}
	if len(options) == 0 {
		return in.Spec.Name
	}
	return in.Spec.Name + ":" + strings.Join(options, ",")
}

// A Stack is the instances that every node of a cluster runs, numbered from 0. Each resource has an instance;
// an elector and a failure detector beside a mutex are instances too. One codec numbers the kinds of message
// of all instances.
type Stack struct {
	instances []Instance
	codec     *Codec
	total     int
	mutexes   []int32
}

// Assemble returns the stack of an algorithm and the instances beside it. The error says which instances
// cannot be combined, or which configuration an algorithm refuses.
func Assemble(first Instance, beside ...Instance) (*Stack, error) {
	instances := append([]Instance{first}, beside...)
	s, n := &Stack{instances: instances}, first.Config.N
	for i, in := range instances {
		if err := in.Spec.Validate(in.Config); err != nil {
			return nil, err
		}
		if in.Config.N != n {
			return nil, fmt.Errorf("%s for %d nodes beside %s for %d: all run on the same nodes",
				in.Spec.Name, in.Config.N, first.Spec.Name, n)
		}
		s.total = max(s.total, n+in.Spec.ServerCount(in.Config))
		if _, ok := in.Spec.Machine(in.Config, 0).(Mutex); ok {
			s.mutexes = append(s.mutexes, int32(i))
		}
	}
	var err error
	s.codec, err = stackCodec(instances)
	return s, err
}

// N returns how many clients there are.
func (s *Stack) N() int { return s.instances[0].Config.N }

// Total returns how many nodes there are, clients and servers.
func (s *Stack) Total() int { return s.total }

// Codec returns the codec of the messages of all instances.
func (s *Stack) Codec() *Codec { return s.codec }

// Fenced reports whether the resource of an instance refuses writes under fence numbers below the highest:
// the resource has one unit and demands fence numbers.
func (s *Stack) Fenced(instance int32) bool {
	in := s.instances[instance]
	return in.Config.Fenced && in.Config.Capacity() == 1
}

// Grace returns how long the first instance takes to recover, with the failure detectors and the elector that
// it depends on: see Spec.GraceOf.
func (s *Stack) Grace() (grace time.Duration) {
	for _, in := range s.withTimeouts() {
		grace += in.Spec.GraceOf(in.Config)
	}
	return grace
}

// Short returns the timeouts that do not cover the delays of a run. It looks at the same instances as Grace.
func (s *Stack) Short(d Delays) (all []ShortTimeout) {
	for _, in := range s.withTimeouts() {
		all = append(all, in.Short(d)...)
	}
	return all
}

// withTimeouts returns the first instance, the failure detectors that it listens to and the elector that it
// follows. It leaves out the instances of other resources: they have the same timeouts, and recover at the
// same time.
func (s *Stack) withTimeouts() (all []Instance) {
	first := s.instances[0]
	for i, in := range s.instances {
		switch {
		case i > 0 && in.Spec == first.Spec:
		case in.Spec.Kind == Detection && first.Spec.Detects == "":
		default:
			all = append(all, in)
		}
	}
	return all
}

// Instances returns the instances, by their number.
func (s *Stack) Instances() []Instance { return s.instances }

// Elects reports whether the first instance is an elector: then the run is about its leaders.
func (s *Stack) Elects() bool { return s.instances[0].Spec.Kind == Election }

// Mutexes returns the numbers of the instances that have clients.
func (s *Stack) Mutexes() []int32 { return s.mutexes }

// Safe returns all assumptions that the safety of the instances needs.
func (s *Stack) Safe() (all Assumption) {
	for _, in := range s.instances {
		all |= in.Spec.SafeIn(in.Config)
	}
	return all
}

// Live returns all assumptions that the progress of the instances needs, in addition to Safe.
func (s *Stack) Live() (all Assumption) {
	for _, in := range s.instances {
		all |= in.Spec.LiveIn(in.Config)
	}
	return all
}

// Circulates reports whether an instance sends messages even if nobody requests.
func (s *Stack) Circulates() bool {
	for _, in := range s.instances {
		if in.Spec.Circulates {
			return true
		}
	}
	return false
}

// Detectors reports by instance whether it is a failure detector; nil: no instance is.
func (s *Stack) Detectors() (all []bool) {
	for i, in := range s.instances {
		if in.Spec.Kind == Detection {
			if all == nil {
				all = make([]bool, len(s.instances))
			}
			all[i] = true
		}
	}
	return all
}

// Forgets reports whether a restart of node id loses state that its peers may rely on: forget is set, or the
// machine of some instance does not recover.
func (s *Stack) Forgets(id ID, forget bool) bool {
	for i := range s.instances {
		forget = forget || s.startsAfresh(int32(i), id)
	}
	return forget
}

// startsAfresh reports whether the machine of an instance on node id loses its state in a crash, even state
// that it saved. On clients only mutexes and electors count: no peer relies on the state of other machines.
func (s *Stack) startsAfresh(instance int32, id ID) bool {
	if s.instances[instance].Spec.Kind == Detection {
		return false // a failure detector learns again who is up
	}
	switch s.machine(instance, id).(type) {
	case Recoverer, *bystander:
		return false
	case Mutex, Elector:
		return true
	}
	return int(id) >= s.N() // a server, whose clients rely on its memory
}

// machine makes the machine of an instance on node id.
func (s *Stack) machine(instance int32, id ID) Machine {
	in := &s.instances[instance]
	if in.Spec.Kind == Detection {
		return in.Spec.New(in.Config)
	}
	if int(id) >= s.N()+in.Spec.ServerCount(in.Config) {
		return &bystander{}
	}
	return in.Spec.Machine(in.Config, id)
}

// A bystander is the machine of an instance on a server that only another instance needs. It does nothing.
type bystander struct{}

func (b *bystander) Receive(_ *Env, _ ID, m Message) { Unexpected(b, m) }
