package commands

import (
	"context"
	"fmt"
	"slices"

	"turnstile/algorithms/catalog"
	"turnstile/bench/service"
	"turnstile/bench/service/local"
	"turnstile/bench/service/natskv"
	"turnstile/bench/study"
	"turnstile/chaos"
	"turnstile/internal/suggest"
	"turnstile/nodes/algorithm"
)

type spec = algorithm.Algorithm

// known is the table of algorithms that the program knows, as commands look them up.
type known struct{ catalog.Table }

// namesOf returns the names of the algorithms of a table.
func namesOf(table []*spec) (names []string) {
	for _, algo := range table {
		names = append(names, algo.Name)
	}
	return names
}

// ownService returns the built-in service of that name; nil: this program has no such service.
func ownService(name string) *service.Service {
	for _, s := range ownServices {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// ownNames returns the names of the services that this program has itself.
func ownNames() (names []string) {
	for _, s := range ownServices {
		names = append(names, s.Name)
	}
	return names
}

// noService is the error for a service that this program lacks, if no program of services is beside it.
func noService(name string) error {
	if near := suggest.Nearest(name, ownNames()); near != "" {
		return fmt.Errorf("there is no service %q here: did you mean %s? The program services has others: build "+
			"it with make services", name, near)
	}
	if name == apart {
		return fmt.Errorf("the program services-%[1]s, which has %[1]s, is not beside this one, nor in PATH: "+
			"build it with make services-%[1]s", name)
	}
	return fmt.Errorf("the program services, which has %s, is not beside this one, nor in PATH: build it "+
		"with make services", name)
}

// findAlgorithm does what Find does. If the name is that of a service, its error names the command that runs
// the service.
func (k known) findAlgorithm(name string) (*spec, error) {
	algo, err := k.Find(name)
	if err == nil {
		return algo, nil
	}
	if s := ownService(name); s != nil {
		return nil, fmt.Errorf("%s is a service, not an algorithm: orchestrator bench --service %[1]s runs it",
			s.Name)
	}
	if slices.Contains(chaos.PlanNames(), name) {
		return nil, fmt.Errorf("%s is a plan of faults, not an algorithm: orchestrator plans %[1]s explains it",
			name)
	}
	if program, wrong := serviceProgram(name); wrong == nil {
		p := service.Program{Command: program, Name: name}
		if d, wrong := p.Describe(context.Background()); wrong == nil {
			command := "bench"
			if d.Declaration.Elects {
				command = "elect"
			}
			return nil, fmt.Errorf("%s is a service, not an algorithm: orchestrator %[2]s --service %[1]s runs "+
				"it, and list %[1]s describes it", name, command)
		}
	} else if slices.ContainsFunc(study.FailoverLines(), func(l *study.FailoverLine) bool {
		return l.Service == name
	}) {
		return nil, fmt.Errorf("%s is a service: %w", name, wrong)
	}
	return nil, err
}

// findElector does what FindElector does, with the signature that runCommand.find needs.
func (k known) findElector(name string) (*spec, error) { return k.FindElector(name) }

// A algorithmFlag is a flag that names an algorithm.
type algorithmFlag struct {
	name *string
	known
}

// Set implements pflag.Value.
func (f *algorithmFlag) Set(text string) error { *f.name = text; return nil }

// String implements pflag.Value.
func (f *algorithmFlag) String() string { return *f.name }

// Type implements pflag.Value.
func (*algorithmFlag) Type() string { return "string" }

// with returns the algorithms for which the function holds returns true.
func (k known) with(holds func(*spec) bool) (algos []*spec) {
	for _, algo := range k.Algorithms() {
		if holds(algo) {
			algos = append(algos, algo)
		}
	}
	return algos
}

// ownServices are the services that this program has itself. All others are in the program services, which is
// built from a module of its own. So this program does not need the libraries of those services.
var ownServices = slices.Concat([]*service.Service{&natskv.Service}, local.Services)

// apart is the service that has a program of its own, built by make services-lease.
const apart = "lease"
