package algorithm

import (
	"fmt"
	"strings"
	"time"

	"turnstile/nodes"
)

// An Instance is an algorithm of a table with a configuration: one machine at every node.
type Instance struct {
	*Algorithm
	Config nodes.Config
}

// ParseInstance reads an algorithm that runs beside another on n clients: its name, or its name and options,
// as in probe:period=50ms,timeout=200ms. what is the word for such an algorithm in errors, as in "detector".
// All options get values; a default timeout is lengthened if it is too short for the delays of the run.
func ParseInstance(what string, table []*Algorithm, text string, n int, d nodes.Delays) (Instance, error) {
	name, options, some := strings.Cut(text, ":")
	algo, err := Find(what, table, name)
	if err != nil {
		return Instance{}, err
	}
	c := nodes.Config{N: n}
	for _, option := range strings.Split(options, ",") {
		if !some {
			break
		}
		key, value, given := strings.Cut(strings.TrimSpace(option), "=")
		if !given || value == "" {
			return Instance{}, fmt.Errorf("%q is no option of a %s: write a name and a value, as in %s", option, what,
				Instance{algo, algo.Explicit(nodes.Config{N: n})})
		}
		if _, twice := c.Options[key]; twice {
			return Instance{}, fmt.Errorf("%s is given twice: leave out one of the two", key)
		}
		c = c.With(key, value)
	}
	c = algo.Fitted(c, d)
	if err := algo.Validate(c); err != nil {
		return Instance{}, err
	}
	return Instance{algo, c}, nil
}

// Core returns the instance without the published figures and promises of its algorithm.
func (in Instance) Core() nodes.Instance {
	return nodes.Instance{Spec: &in.Algorithm.Spec, Config: in.Config}
}

// Lengthened returns the instance with longer timeouts where they are too short for the delays of a run, even
// if their values were given.
func (in Instance) Lengthened(d nodes.Delays) Instance {
	return Instance{in.Algorithm, in.Core().Lengthened(d).Config}
}

// String writes an instance as ParseInstance reads it, with the options that it was given.
func (in Instance) String() string { return in.Core().String() }

// A Stack is a nodes.Stack that knows the Algorithm of each instance.
type Stack struct {
	*nodes.Stack
	instances []Instance
}

// Assemble returns the stack of instances. The error says which instances cannot be combined, or which
// configuration an algorithm refuses.
func Assemble(first Instance, beside ...Instance) (*Stack, error) {
	s := &Stack{instances: append([]Instance{first}, beside...)}
	var cores []nodes.Instance
	for _, in := range s.instances {
		cores = append(cores, in.Core())
	}
	var err error
	s.Stack, err = nodes.Assemble(cores[0], cores[1:]...)
	return s, hinted(err)
}

// Instances returns the instances, by their number.
func (s *Stack) Instances() []Instance { return s.instances }

// Published returns what is published of the first instance. alone says that only failure detectors and
// instances of the same algorithm run beside it: published counts do not include messages of other
// algorithms. With several instances of the algorithm, the cost of an entry is the cost under any load, since
// the load of each instance is unknown. Identities are about sums of messages, so they hold for all instances
// together.
func (s *Stack) Published() (published Exclusion, alone bool) {
	first := s.instances[0].Algorithm
	published, alone = *s.instances[0].Exclusion(), true
	for _, in := range s.instances[1:] {
		switch {
		case in.Kind == nodes.Detection:
		case in.Algorithm == first:
			published.Cost, published.Exact = underAnyLoad(first), nil
		default:
			published.Cost, published.Exact, published.Identities = nil, nil, nil
			return published, false
		}
	}
	return published, alone
}

// underAnyLoad returns the cost of an algorithm under an unknown load; nil: this cost is not published.
func underAnyLoad(algo *Algorithm) func(c nodes.Config) Cost {
	cost := algo.Exclusion().Cost
	if cost == nil || algo.Circulates { // each resource has its own circulating token
		return nil
	}
	return func(c nodes.Config) Cost {
		of := cost(c)
		of.Sequential, of.One, of.Saturated = of.Any, of.Any, of.Any
		return of
	}
}

// Elector returns the instance that elects leaders; nil: the stack has no elector.
func (s *Stack) Elector() *Instance {
	for i := range s.instances {
		if s.instances[i].Elector != nil {
			return &s.instances[i]
		}
	}
	return nil
}

// Fair returns all assumptions that the promised order of service needs, in addition to Safe and Live.
func (s *Stack) Fair() (all nodes.Assumption) {
	for _, in := range s.instances {
		all |= in.Exclusion().Fair
	}
	return all
}

// Minority returns how long a client of the first instance may still enter after it lost contact with the
// majority, as its algorithm promises. 0: no promise, or the failure detector gives no bound.
func (s *Stack) Minority() time.Duration {
	first := s.instances[0]
	promised := first.Exclusion().Minority
	if promised == nil {
		return 0
	}
	for _, in := range s.instances {
		adapts, _ := time.ParseDuration(in.Config.Options["adapt"]) // validated options have no errors
		if in.Kind == nodes.Detection && in.Told == nil && adapts == 0 {
			return in.GraceOf(in.Config) + promised.Within(first.Config)
		}
	}
	return 0
}
