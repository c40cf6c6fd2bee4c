package commands

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/check"
)

// faultFlags are the flags that ask for faults. Some, such as --kill, each make one fault. Others, such as
// --at, set a key of all faults that the first kind of flags makes.
type faultFlags struct {
	plan    string
	written []string // faults that --fault gives, as in a plan
	keys    chaos.Keys
}

func (c *faultFlags) add(f *pflag.FlagSet) {
	f.StringVar(&c.plan, "plan", "",
		"the `plan` of faults: a built-in one (see plans), a file, random:SEED or inside:SEED")
	c.addFaults(f)
}

// The keys that faults of every kind, or of several kinds, have.
var (
	filterKeys = []effect.Key{{Name: "kind", Says: "let these faults hit only one `kind` of message, or token"},
		{Name: "nth", Says: "let these faults hit only the `n`th such message",
			NoZeroFlag: "is not a message: they count from 1; leave it out for all messages"}}
	timeKeys = []effect.Key{
		{Name: "at", Says: "when a fault begins, from the end of the warm-up (default a third of --duration)"},
		{Name: "when", Value: "moment",
			Says: "the event that a fault waits for after --at, as in '3 enters' or 'any receives token #5'"},
		{Name: "after", Says: "how long after that event it begins"},
		{Name: "for",
			Says: "how long it lasts, or how long a killed process stays down (default a third of --duration; " +
				"nodes and servers stay down for good)",
			NoZeroFlag: "would make a fault of no length: leave it out for the default, or write a --fault " +
				"without `for` for one that lasts to the end"}}
)

// flaggedKinds lists the kinds of faults that have a flag, in the order in which the flags make faults.
// Random draws depend on that order. So reorder stays before duplicate, since otherwise equal seeds would not
// draw the same faults as in earlier versions.
var flaggedKinds = func() []*effect.Kind {
	all := slices.DeleteFunc(slices.Clone(effect.Kinds), func(k *effect.Kind) bool { return k.Flag == "" })
	i, j := slices.Index(all, effect.Find("duplicate")), slices.Index(all, effect.Find("reorder"))
	all[i], all[j] = all[j], all[i]
	return all
}()

// addFaults adds the flags that ask for single faults.
func (c *faultFlags) addFaults(f *pflag.FlagSet) {
	f.StringArrayVar(&c.written, "fault", nil,
		"a fault as plans write it, as in 'kill: 2, at: 1s, for: 10ms'; may be given several times")
	c.keys = chaos.NewKeys()
	ofLinks := true
	for _, k := range flaggedKinds {
		if ofLinks && k.Layer != effect.OfLinks {
			ofLinks = false
			c.addKeys(f, filterKeys)
		}
		c.addKeys(f, []effect.Key{{Name: k.Key, Says: k.Flag}})
		c.addKeys(f, k.More)
	}
	c.addKeys(f, timeKeys)
}

// addKeys adds the flags of some keys.
func (c *faultFlags) addKeys(f *pflag.FlagSet, keys []effect.Key) {
	for i := range keys {
		k := &keys[i]
		name := k.FlagName()
		value := c.keys.Value(k.Name)
		if _, is := value.(pflag.Value); !is {
			if text, is := value.(textValue); is {
				value = &textFlag{text, k}
			}
		}
		addValue(f, value, name, "", k.Says)
		if k.NoZeroFlag != "" {
			noZero(f, name, k.NoZeroFlag)
		}
	}
}

// A textFlag sets a value that is written as text.
type textFlag struct {
	textValue
	key *effect.Key
}

type textValue interface {
	encoding.TextUnmarshaler
	fmt.Stringer
}

// Set implements pflag.Value. It refuses a second value that would take the place of the first.
func (f *textFlag) Set(text string) error {
	switch v := f.textValue.(type) {
	case *effect.Target, *effect.Cut:
		if !reflect.ValueOf(v).Elem().IsZero() {
			return errors.New("given twice: write each fault as a --fault, as in " +
				"--fault 'kill: 2, at: 1s', or a plan")
		}
	}
	return f.UnmarshalText([]byte(text))
}

// Type implements pflag.Value.
func (f *textFlag) Type() string {
	return cmp.Or(f.key.Value, strings.ToLower(reflect.TypeOf(f.textValue).Elem().Name()))
}

// An ofFault is a flag that sets a key of the faults made by other flags, as --for does for --kill.
type ofFault struct {
	key, flag string
	of        []string // keys of the kinds of faults that take the key
}

// ofFaults lists the flags of type ofFault.
func ofFaults() (all []ofFault) {
	add := func(keys []effect.Key) {
		for i := range keys {
			x := ofFault{key: keys[i].Name, flag: keys[i].FlagName()}
			for _, k := range effect.Kinds {
				if slices.Contains(k.Takes(), x.key) && !slices.Contains(x.of, k.Key) {
					x.of = append(x.of, k.Key)
				}
			}
			all = append(all, x)
		}
	}
	add(filterKeys)
	for _, k := range flaggedKinds {
		add(k.More)
	}
	add(timeKeys)
	return all
}

// made returns the faults that the flags make. The parameter at is when a fault begins without --at, and the
// parameter lasts is how long a fault lasts without --for.
func (c *faultFlags) made(s settings, at, lasts time.Duration) (all []chaos.Fault) {
	for _, k := range flaggedKinds {
		if !s.given(k.Key) {
			continue
		}
		f := c.keys.Fault(k.Key)
		if !s.given("at") {
			f.At = at
		}
		if !s.given("for") && !f.ForGood() {
			f.For = lasts
		}
		all = append(all, f)
	}
	return all
}

// resolve returns the faults of the plan and of the flags, and the name of the plan. If the plan has a number
// of brokers or a duration, and the user gave no other, it sets them in the scene.
func (c *faultFlags) resolve(s settings, scene *chaos.Scene) (name string, all []chaos.Fault, err error) {
	var p *chaos.Plan
	if c.plan != "" {
		if p, err = readPlan(c.plan, scene); err != nil {
			return "", nil, fmt.Errorf("--plan: %w", err)
		}
		if p.Brokers > 0 && !s.given("brokers") {
			scene.Brokers = p.Brokers
		}
		if p.Duration > 0 && !s.given("duration") && scene.Measured > 0 {
			scene.Measured = p.Duration
		}
	}
	flags := c.made(s, scene.Measured/3, scene.Measured/3)
	made := slices.Clone(flags)
	for i := range flags {
		if err := flags[i].Check(scene); err != nil {
			return "", nil, byItsFlag(err)
		}
	}
	for _, text := range c.written {
		f, err := chaos.ParseFault(text)
		if err == nil {
			err = f.Check(scene)
		}
		if err != nil {
			return "", nil, fmt.Errorf("--fault: %w", err)
		}
		flags = append(flags, f)
	}
	if p != nil {
		if _, err := chaos.Resolve(p.Faults, scene, 1); err != nil {
			return "", nil, fmt.Errorf("--plan: %s: %w", p.Name, err)
		}
		name, all = p.Name, p.Faults
	}
	if err := sayOfSome(s, check.ProblemOf(scene.Spec).Victim, made); err != nil {
		return "", nil, err
	}
	all = append(all, flags...)
	if _, err := chaos.Resolve(all, scene, 1); err != nil {
		return "", nil, err
	}
	return name, all, nil
}

// byItsFlag adds to an error about a key the flag that sets the key.
func byItsFlag(err error) error {
	var m *chaos.Mistake
	if !errors.As(err, &m) {
		return err
	}
	all := ofFaults()
	if i := slices.IndexFunc(all, func(x ofFault) bool { return x.key == m.Key }); i >= 0 {
		return fmt.Errorf("--%s: %w", all[i].flag, err)
	}
	return err
}

// sayOfSome returns an error if the command line has a flag for a key that no fault made by flags takes.
// victim is a target for the example in the error.
func sayOfSome(s settings, victim string, made []chaos.Fault) error {
	for _, x := range ofFaults() {
		of, missing := x.of, "--"+strings.Join(x.of, ", --")
		if of == nil {
			missing = "one, as in --cut 0-1/2-4 or --kill " + victim
			for _, k := range flaggedKinds {
				of = append(of, k.Key)
			}
		}
		taken := slices.ContainsFunc(made, func(f chaos.Fault) bool {
			return x.of == nil || slices.Contains(effect.KindOf(f.Effect).Takes(), x.key)
		})
		if !s.typed(x.flag) || taken {
			continue
		}
		for i := range made {
			if k := effect.KindOf(made[i].Effect); slices.Contains(of, k.Key) {
				return fmt.Errorf("--%s: %s takes no %s: see orchestrator plans", x.flag, k.Name(), x.key)
			}
		}
		return fmt.Errorf("--%s goes with a fault, and no fault here takes it: add %s", x.flag, missing)
	}
	return nil
}
