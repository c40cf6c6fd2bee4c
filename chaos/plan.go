package chaos

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/pattern"
	"turnstile/internal/suggest"
	"turnstile/internal/yamlfile"
	"turnstile/nodes/algorithm"

	"go.yaml.in/yaml/v3"
)

// A Plan lists the faults of a run. docs/plans.md explains one.
type Plan struct {
	Name  string `yaml:"-"` // name of a built-in plan, or of the file
	About string `yaml:"about"`
	// Brokers is how many brokers the run has if it has no --brokers; 0: any number.
	Brokers int `yaml:"brokers,omitempty"`
	// Duration is how long the run is measured if it has no --duration; 0: the default.
	Duration time.Duration `yaml:"duration,omitempty"`
	Faults   []Fault       `yaml:"faults"`
	Text     string        `yaml:"-"` // text of the file
}

//go:embed plans/*.yaml
var ours embed.FS

// PlanNames returns the names of the built-in plans, sorted, without reading the plans.
func PlanNames() (names []string) {
	files, err := ours.ReadDir("plans")
	if err != nil {
		panic(err) // the folder is embedded in the program
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), ".yaml"))
	}
	return names
}

// Plans returns the built-in plans, sorted by name.
func Plans() []*Plan { return plansNamed(PlanNames()) }

// Prefixes of the names of plans that are drawn by a seed.
const (
	randomPlan = "random:"
	insidePlan = "inside:"
)

// drawnPlan draws the plan of a name such as random:7 or inside:7 for a run. drawn is false for other names.
func drawnPlan(name string, s *Scene) (p *Plan, drawn bool, err error) {
	word, seed, _ := strings.Cut(name, ":")
	draw := map[string]func(*Scene, uint64) *Plan{randomPlan: RandomPlan, insidePlan: InsidePlan}[word+":"]
	if draw == nil {
		return nil, false, nil
	}
	n, err := strconv.ParseUint(seed, 10, 63)
	switch {
	case err != nil:
		return nil, true, fmt.Errorf("%q: write the seed of the plan, a whole number, as in %s:7", name, word)
	case s == nil:
		return nil, true, fmt.Errorf("a plan that is drawn by a seed depends on the run: see its run.yaml, or " +
			"what bench and simulate print")
	case s.Measured == 0:
		return nil, true, fmt.Errorf("%s: the times of a random plan are shares of a --duration, "+
			"and this run ends by entries", name)
	}
	return draw(s, n), true, nil
}

// FindPlan returns the built-in plan of a name, or draws a plan for a run if the name is like random:7. ours
// is false for any other name, which may be that of a file.
func FindPlan(name string, s *Scene) (p *Plan, ours bool, err error) {
	if p, drawn, err := drawnPlan(name, s); drawn {
		return p, true, err
	}
	if name = strings.TrimSuffix(name, ".yaml"); slices.Contains(PlanNames(), name) {
		return plansNamed([]string{name})[0], true, nil
	}
	return nil, false, nil
}

// HintAtPlan returns the end of an error about an unknown plan: the nearest name, or all names.
func HintAtPlan(name string) string {
	known := suggest.List{By: "plans", Names: PlanNames()}
	return known.Hint(name)
}

// ReadPlan reads a plan from the text of its file.
func ReadPlan(name string, text []byte) (*Plan, error) {
	p := &Plan{Name: name, Text: string(text)}
	err := yamlfile.Decode(text, p)
	if err == nil {
		err = p.noteLines()
	}
	if err == io.EOF || err == nil && len(p.Faults) == 0 {
		err = errors.New("it has no faults: write faults:, and below it a list of them, as in - cut: 0-1/2-4")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range p.Faults {
		if err := p.Faults[i].checkKind(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return p, nil
}

// noteLines notes the lines of the keys of the faults, and checks the values of the other keys.
func (p *Plan) noteLines() error {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(p.Text), &document); err != nil {
		return err
	}
	root := document.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		switch {
		case key.Value == "brokers" && p.Brokers != 1 && p.Brokers != 3:
			return fmt.Errorf("line %d: %d brokers: a run has 1 or 3", key.Line, p.Brokers)
		case key.Value == "duration" && (p.Duration <= 0 || p.Duration > chance.Longest):
			return fmt.Errorf("line %d: a duration of %v: write for how long the run is measured, as in "+
				"duration: 5s, or leave it out", key.Line, p.Duration)
		}
		if key.Value != "faults" {
			continue
		}
		for j, item := range root.Content[i+1].Content {
			if item.Kind == yaml.ScalarNode { // the item is null, for which Decode adds no fault
				var nothing Fault
				nothing.noteLines(item)
				return nothing.checkKind()
			}
			p.Faults[j].noteLines(item)
			if err := checkValues(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// newKey matches where the next key of a fault begins, in one line.
var newKey = pattern.Of(`,\s*([a-z-]+:(\s|$))`)

// ParseFault reads a fault in one line, with the keys that plans have: kill: 2, at: 1s.
func ParseFault(text string) (f Fault, err error) {
	lines := []byte(newKey().ReplaceAllString(text, "\n$1"))
	err = yamlfile.Decode(lines, &f)
	if err == io.EOF {
		err = errors.New("it is empty")
	}
	var document yaml.Node
	if err == nil && yaml.Unmarshal(lines, &document) == nil {
		err = checkValues(document.Content[0])
	}
	if err != nil {
		return f, fmt.Errorf("%q is not a fault: %s; write it as in 'kill: 2, at: 1s, for: 10ms'", text,
			ofLine().ReplaceAllString(err.Error(), ""))
	}
	return f, f.checkKind()
}

// ofLine matches the line number that an error of YAML begins with.
var ofLine = pattern.Of(`^(yaml: )?line \d+: `)

// noteLines notes the lines of the keys of the fault.
func (f *Fault) noteLines(item *yaml.Node) {
	f.lines = map[string]int{"": item.Line}
	for i := 0; i+1 < len(item.Content); i += 2 {
		f.lines[item.Content[i].Value] = item.Content[i].Line
	}
}

// checkValues refuses two slips in the YAML of a fault: a # that belongs to a moment but begins a comment, as
// in when: any enters #5, and a zero that would mean the same as leaving the key out.
func checkValues(item *yaml.Node) error {
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], item.Content[i+1]
		comment := value.LineComment
		if key.Value == "when" && len(comment) > 1 && comment[1] >= '0' && comment[1] <= '9' {
			return fmt.Errorf("line %d: to YAML, %s is a comment: write when: '%s %s'", key.Line, comment,
				value.Value, comment)
		}
		if err := checkZero(key, value); err != nil {
			return err
		}
	}
	return nil
}

// zeros has, for keys that do not belong to one effect, the error about a zero that would mean the same as
// leaving the key out.
var zeros = map[string]string{
	"for":    "would be no time at all: leave `for` out for a fault that lasts to the end",
	"every":  "would be no time at all: leave `every` out for a fault that takes place once",
	"repeat": "would be never: leave `repeat` out for as often as fits into the run",
	"nth":    "is no message: they count from 1; leave `nth` out for all messages",
	"seed":   "is not a valid seed: leave `seed` out to use the seed of the run",
}

// checkZero refuses a key of a fault that has no value, or a zero that would mean the same as leaving the key
// out.
func checkZero(key, value *yaml.Node) error {
	if value.Tag == "!!null" || value.Kind == yaml.ScalarNode && value.Value == "" {
		return fmt.Errorf("line %d: %s has no value: write one, or leave it out", key.Line, key.Value)
	}
	says := zeros[key.Value]
	for _, k := range effect.Kinds {
		for i := range k.More {
			if k.More[i].Name == key.Value {
				says = cmp.Or(says, k.More[i].NoZero)
			}
		}
	}
	if says == "" {
		return nil
	}
	read := reflect.New(form().Field(index(key.Value)).Type)
	if err := value.Decode(read.Interface()); err == nil && read.Elem().IsZero() {
		return fmt.Errorf("line %d: %s: %s %s", key.Line, key.Value, value.Value, says)
	}
	return nil
}

// Scenarios returns the built-in plans of the fault matrix for mutual exclusion, in its order: crashes, lost
// messages, cuts, slowness, amnesia and faults of brokers. They are for five clients and four seconds.
func Scenarios() []*Plan { return plansNamed(scenarios) }

// Elections returns the built-in plans of the fault matrix for electors: crashes, cuts, pauses, late and lost
// messages, amnesia. They are for five nodes, which all campaign when the run begins.
func Elections() []*Plan { return plansNamed(elections) }

// ScenariosOf returns the plans of the fault matrix that suit an algorithm.
func ScenariosOf(spec *algorithm.Algorithm) []*Plan {
	plans := plansNamed(kindOf(spec).plans)
	return slices.DeleteFunc(plans, func(p *Plan) bool { return !p.Suits(spec) })
}

// Kinds reports whether a built-in plan is for algorithms of mutual exclusion, and whether for electors.
func (p *Plan) Kinds() (excludes, elects bool) {
	return slices.Contains(scenarios, p.Name), slices.Contains(elections, p.Name)
}

// plansNamed reads built-in plans by their names.
func plansNamed(names []string) (all []*Plan) {
	for _, name := range names {
		text, err := ours.ReadFile("plans/" + name + ".yaml")
		p, wrong := ReadPlan(name, text)
		if err = cmp.Or(err, wrong); err != nil {
			panic(err) // a bug: tests read all built-in plans
		}
		all = append(all, p)
	}
	return all
}

// Suits reports whether an algorithm has everything that the faults of the plan name: a coordinator, kinds of
// messages, a token, leaders, a second network, or a critical section.
func (p *Plan) Suits(spec *algorithm.Algorithm) bool {
	lacks := kindOf(spec).lacks
	return !slices.ContainsFunc(p.Faults, func(f Fault) bool {
		word := f.target().Word
		_, kindErr := kindsOf(f.Kind, spec.Codec())
		_, whenErr := kindsOf(f.When.Kind, spec.Codec())
		return kindErr != nil || whenErr != nil || f.Network != nil && spec.Codec().Networks() == 1 ||
			word == "coordinator" && spec.Coordinator == nil || word == "token" && !carriesToken(spec) ||
			slices.Contains(lacks, word) || slices.Contains(lacks, f.When.What)
	})
}
