package experiment

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/yamlfile"
	"turnstile/nodes"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A ServiceLine is a known failure of a service that grants locks or elects leaders: how a run shows it, and
// what is expected of that run.
type ServiceLine struct {
	Number  int      `yaml:"number"` // of the failure; several services may have one
	Service string   `yaml:"service"`
	With    []string `yaml:"with"` // options of the service, as ttl=2s
	Nodes   int      `yaml:"nodes"`
	// Hold is for how long a client stays inside; Duration how long the run is measured.
	Hold     time.Duration `yaml:"hold"`
	Duration time.Duration `yaml:"duration"`
	Proxies  bool          `yaml:"proxies"` // connections run through proxies, which count bytes
	// Think is for how long a client waits after it has left; 0: it requests again at once. Demands says that
	// the resource demands fence numbers, which the clients must have.
	Think   time.Duration `yaml:"think"`
	Demands bool          `yaml:"demands"`
	Faults  []chaos.Fault `yaml:"faults"`
	// Strict and Fenced are the outcomes that the run may show, by their letters as in L|P: of all entries, and
	// of those that a resource accepts which demands fence numbers. Fenced is empty where clients have none.
	Strict string `yaml:"strict"`
	Fenced string `yaml:"fenced"`
	Says   string `yaml:"says"` // what the documentation or a report says; quoted, in quotation marks
	Link   string `yaml:"link"` // where it does
	Why    string `yaml:"why"`  // what happens, in a sentence
}

//go:embed service_lines.yaml
var serviceLines []byte

// ServiceLines returns the known failures of services.
func ServiceLines() []*ServiceLine {
	all, err := readServiceLines(serviceLines)
	if err != nil {
		panic(err) // a test reads them
	}
	return all
}

func readServiceLines(text []byte) ([]*ServiceLine, error) {
	var file struct {
		Lines []*ServiceLine `yaml:"lines"`
	}
	if err := yamlfile.Decode(text, &file); err != nil && err != io.EOF {
		return nil, err
	}
	for i, l := range file.Lines {
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("line %d of the matrix, number %d, %s: %w", i+1, l.Number, l.Service, err)
		}
	}
	return file.Lines, nil
}

// check says what is missing in a line.
func (l *ServiceLine) check() error {
	switch {
	case l.Number < 1, l.Service == "", l.Nodes < 1, l.Duration <= 0:
		return errors.New("it takes a number, a service, nodes and a duration")
	case l.Says == "", !strings.HasPrefix(l.Link, "https://"), l.Why == "":
		return errors.New("it takes what the documentation says, a link to it, and what happens")
	}
	for _, letters := range []string{l.Strict, l.Fenced} {
		if _, err := outcomesOf(letters); err != nil {
			return err
		}
	}
	if l.Strict == "" {
		return errors.New("it takes what is expected: strict")
	}
	return nil
}

// outcomesOf reads outcomes as row.Outcome writes them.
func outcomesOf(letters string) (all row.Outcome, err error) {
	if letters == "" {
		return 0, nil
	}
	for letter := range strings.SplitSeq(letters, "|") {
		known := []row.Outcome{row.Recovers, row.Starves, row.Blocks, row.Breaks}
		i := slices.IndexFunc(known, func(o row.Outcome) bool { return o.String() == letter })
		if i < 0 {
			return 0, fmt.Errorf("%q is no outcome: write letters of L, P, B and X, as in L|P", letters)
		}
		all |= known[i]
	}
	return all, nil
}

// Text returns the service with its options.
func (l *ServiceLine) Text() string { return strings.Join(append([]string{l.Service}, l.With...), " ") }

// FaultTexts says in words what goes wrong, a fault each.
func (l *ServiceLine) FaultTexts() (all []string) {
	for i := range l.Faults {
		all = append(all, l.Faults[i].String())
	}
	return all
}

// Is reports whether the line goes by a word: its number, or its service.
func (l *ServiceLine) Is(word string) bool { return word == fmt.Sprint(l.Number) || word == l.Service }

// A ServiceSubject is what a run must know of a service with its options.
type ServiceSubject struct {
	Spec    *row.Row
	Config  nodes.Config
	Servers chaos.Servers
	Granted time.Duration // the time to live that servers grant; 0: none
}

// Job returns the run that shows the line, given what the service says of itself.
func (l *ServiceLine) Job(of *ServiceSubject, seed uint64) (*bench.Job, error) {
	o := option.Defaults()
	o.Config, o.Servers, o.Faults, o.Proxies = of.Config, of.Servers, l.Faults, l.Proxies
	o.Seed, o.Duration = seed, l.Duration
	studyOf(of.Spec).line(l, &o)
	return bench.Resolve(o, of.Spec, false)
}

// entries sets the options of a run about a lock: clients request again at once, or after the line's pause.
func (l *ServiceLine) entries(o *bench.Options) {
	o.Workload, o.Warmup = workload.Workload{Load: workload.Saturated, Hold: chance.Constant(l.Hold)}, lineWarmup
	o.Config.Fenced = l.Demands
	if l.Think > 0 {
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(l.Think)
	}
}

// elections sets the options of a run about an election.
func (l *ServiceLine) elections(o *bench.Options) { allStand(o) }

// lineWarmup is how long clients enter before what is measured begins.
const lineWarmup = 300 * time.Millisecond
