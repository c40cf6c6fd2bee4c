package option

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/figure"
	"turnstile/internal/pattern"
	"turnstile/internal/suggest"
	"turnstile/nodes/workload"
)

// Find returns the option with a name, or nil.
func Find(name string) *Option {
	i := slices.IndexFunc(Table, func(o *Option) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return Table[i]
}

// Is reports whether the option exists in runs under a load.
func (o *Option) Is(l workload.Load) bool {
	return o.For == "" || (l == workload.Campaign) == (o.For == Leaders)
}

// Set sets an option of a run from the text that its flag takes. The error says what is wrong with the text.
func Set(r *Run, name, text string) error {
	o := Find(name)
	if o == nil || o.Of == nil {
		return fmt.Errorf("there is no option %s of runs", name)
	}
	if text == "" {
		return errors.New("it has no value: write one, or leave it out")
	}
	var err error
	of := o.Of(r)
	switch v := of.(type) {
	case Value:
		err = v.Set(text)
	case *string:
		*v = text
	case *bool:
		*v, err = strconv.ParseBool(text)
	case *int:
		var n int64
		n, err = strconv.ParseInt(text, 0, strconv.IntSize)
		*v = int(n)
	case *uint64:
		*v, err = strconv.ParseUint(text, 0, 64)
	case *float64:
		*v, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		*v, err = time.ParseDuration(text)
	}
	if err != nil {
		return Refusal(reflect.Indirect(reflect.ValueOf(of)).Type().Name(), text, err)
	}
	if now := o.text(r); o.NoZero != "" && (now == "0" || now == "0s") {
		return fmt.Errorf("%s %s", now, o.NoZero)
	}
	return nil
}

// Refusal explains why a text is no value of a type of Go, named without its package. cause is the error for
// types that have errors of their own.
func Refusal(kind, text string, cause error) error {
	if kind = strings.ToLower(kind); kind == "duration" {
		if lengthOfTime().MatchString(text) { // the text is a length of time that overflows
			return fmt.Errorf("%q is too long: at most 24h", text)
		}
		if err := suggest.Unit(text, "s"); err != nil {
			return err
		}
	}
	what, known := map[string]string{
		"int":      "a whole number",
		"uint64":   "a whole number from 0",
		"float64":  "a number",
		"bool":     "true or false",
		"duration": "a time such as 500ms, 3s or 2m",
	}[kind]
	if !known {
		return cause
	}
	return fmt.Errorf("%q is not %s", text, what)
}

// lengthOfTime matches the syntax of time.ParseDuration, also if the time overflows.
var lengthOfTime = pattern.Of(`^[+-]?([0-9]+\.?[0-9]*(h|m|s|ms|us|µs|ns))+$`)

// Reset sets the option in a run to its zero value, which means that the option is not given.
func (o *Option) Reset(r *Run) {
	switch v := o.Of(r).(type) {
	case resources:
		*v.count, *v.names = 0, ""
	default:
		reflect.ValueOf(v).Elem().SetZero()
	}
}

// text returns the value of a run in the syntax of the flag.
func (o *Option) text(r *Run) string {
	switch v := o.Of(r).(type) {
	case *int:
		return strconv.Itoa(*v)
	case *uint64:
		return strconv.FormatUint(*v, 10)
	case *float64:
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case *bool:
		return strconv.FormatBool(*v)
	case *string:
		return *v
	case *time.Duration:
		return v.String()
	case Value:
		return v.String()
	default:
		panic(fmt.Sprintf("the option %s has a value of type %T", o.Name, v))
	}
}

// words returns the argument of the option's flag in a command that makes the run, or "" to leave the flag
// out. Implied is the run that results without options.
func (o *Option) words(r, implied *Run) string {
	switch {
	case o.Words != nil:
		return o.Words(r)
	case o.Always || o.text(r) != o.text(implied):
		return o.text(r)
	}
	return ""
}

// Given iterates over the options that a command must give to make the run, with the arguments of their
// flags. Implied is the run that results without options. If real is set, options for runs of processes are
// included.
func (r *Run) Given(implied *Run, real bool) iter.Seq2[*Option, string] {
	return func(yield func(*Option, string) bool) {
		for _, o := range Table {
			if !o.Is(r.Workload.Load) || o.Real && !real {
				continue
			}
			if words := o.words(r, implied); words != "" && !yield(o, words) {
				return
			}
		}
	}
}

// Says returns the texts about the run's options for the first line of a summary.
func (r *Run) Says(implied *Run, real bool) (all []string) {
	for _, o := range Table {
		if !o.Is(r.Workload.Load) || o.Real && !real {
			continue
		}
		says := ""
		if o.Says != nil {
			says = o.Says(r)
		} else if says = o.words(r, implied); says == "true" {
			says = o.Name
		} else if says != "" {
			says = o.Name + " " + says
		}
		if says != "" {
			all = append(all, says)
		}
	}
	return all
}

// Columns iterates over the columns of all options.
func Columns() iter.Seq2[*Option, *Column] {
	return func(yield func(*Option, *Column) bool) {
		for _, o := range Table {
			for i := range o.Columns {
				if !yield(o, &o.Columns[i]) {
					return
				}
			}
		}
	}
}

// Zero returns an empty cell of the column: a string, a bool or a figure.Figure.
func (c *Column) Zero() any {
	if c.Cell != nil {
		switch c.Cell(&Run{}, false).(type) {
		case bool:
			return false
		case figure.Figure:
			return figure.Figure{}
		}
	}
	return ""
}

// Cells returns the cells of a run, by name of the column. Real is set for runs of processes.
func (r *Run) Cells(real bool) map[string]any {
	cells := map[string]any{}
	for o, c := range Columns() {
		switch {
		case !o.Is(r.Workload.Load) && !c.All:
			cells[c.Name] = c.Zero()
		case c.Cell != nil:
			cells[c.Name] = c.Cell(r, real)
		default:
			cells[c.Name] = o.text(r)
		}
	}
	return cells
}

// A loadValue is the name of a load.
type loadValue workload.Load

// Set implements Value. The load is checked once all options are known.
func (l *loadValue) Set(text string) error { *l = loadValue(text); return nil }
func (l *loadValue) String() string        { return string(*l) }
func (l *loadValue) Type() string          { return "string" }

// arrivals is true for even arrivals, and false for random ones.
type arrivals bool

// Set implements Value.
func (a *arrivals) Set(text string) error {
	*a = text == "even"
	if text != "even" && text != "poisson" {
		return fmt.Errorf("%q is unknown: take poisson or even", text)
	}
	return nil
}

func (a *arrivals) String() string {
	if *a {
		return "even"
	}
	return "poisson"
}

// Type implements Value.
func (*arrivals) Type() string { return "string" }

// resources is the number of resources, or their names.
type resources struct {
	count *int
	names *string // separated by commas
}

func resourcesOf(r *Run) resources { return resources{&r.Resources, &r.ResourceNames} }

func (r resources) String() string {
	if *r.names != "" {
		return *r.names
	}
	return strconv.Itoa(*r.count)
}

// Type implements Value.
func (resources) Type() string { return "resources" }

// Set implements Value.
func (r resources) Set(text string) error {
	if n, err := strconv.Atoi(text); err == nil {
		*r.count, *r.names = n, ""
		return nil
	}
	names := strings.Split(text, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		_, err := strconv.ParseFloat(names[i], 64)
		switch {
		case names[i] == "" || err == nil:
			return errors.New("write how many, or names with commas between, as in printer,plotter")
		case slices.Contains(names[:i], names[i]):
			return errors.New("two resources are called " + names[i] + ": name one of them otherwise")
		}
	}
	*r.count, *r.names = len(names), strings.Join(names, ",")
	return nil
}
