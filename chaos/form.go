package chaos

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"turnstile/chaos/effect"
)

// forms returns the struct that plans and orders to nodes have in place of a Fault: all keys of all effects
// beside those that say when, in one list; and where each key is in it.
var forms = sync.OnceValues(makeForm)

func makeForm() (reflect.Type, map[string]int) {
	var fields []reflect.StructField
	index := map[string]int{}
	add := func(key string, field reflect.Value) {
		if _, has := index[key]; has {
			return // by is a key of several effects
		}
		of, omit := field.Type(), "omitzero"
		if effect.Find(key) != nil { // a zero is a fault, too
			of = reflect.PointerTo(of)
		}
		if of.Kind() == reflect.Pointer {
			omit = "omitempty"
		}
		index[key] = len(fields)
		fields = append(fields, reflect.StructField{Name: "X" + strings.ReplaceAll(key, "-", "_"), Type: of,
			Tag: reflect.StructTag(fmt.Sprintf(`yaml:"%s,omitempty" json:"%s,%s"`, key, key, omit))})
	}
	kinds := func(ofLinks bool) {
		for _, k := range effect.Kinds {
			if (k.Layer == effect.OfLinks) == ofLinks {
				effect.Each(reflect.ValueOf(k.Zero).Elem(), add)
			}
		}
	}
	var f Fault
	add("name", reflect.ValueOf(f.Name))
	kinds(true)
	effect.Each(reflect.ValueOf(f.Filter), add)
	kinds(false)
	effect.Each(reflect.ValueOf(f), add)
	return reflect.StructOf(fields), index
}

// form returns the struct.
func form() reflect.Type {
	form, _ := forms()
	return form
}

// places returns where each key is in it.
func places() map[string]int {
	_, index := forms()
	return index
}

// index returns where a key is in a form.
func index(key string) int { return places()[key] }

// Form returns an empty value of what the fault is read from and written as, a pointer to a struct.
func (*Fault) Form() any { return reflect.New(form()).Interface() }

// toForm returns what the fault is written as, a struct.
func (f *Fault) toForm() reflect.Value {
	x := reflect.New(form()).Elem()
	set := func(key string, field reflect.Value) {
		to := x.Field(index(key))
		if to.Kind() == reflect.Pointer && field.Kind() != reflect.Pointer {
			to.Set(reflect.New(field.Type()))
			to = to.Elem()
		}
		to.Set(field)
	}
	effect.Each(reflect.ValueOf(f).Elem(), set)
	if f.Effect != nil {
		effect.Each(reflect.ValueOf(f.Effect).Elem(), set)
	}
	return x
}

// fromForm makes it the fault that is written in a form.
func (f *Fault) fromForm(x reflect.Value) {
	*f = Fault{}
	taken := map[string]bool{}
	get := func(key string, field reflect.Value) {
		from := x.Field(index(key))
		if from.Kind() == reflect.Pointer && field.Kind() != reflect.Pointer {
			from = from.Elem()
		}
		field.Set(from)
		taken[key] = true
	}
	effect.Each(reflect.ValueOf(f).Elem(), get)
	toServers(x)
	for _, k := range effect.Kinds {
		if x.Field(index(k.Key)).IsNil() {
			continue
		}
		if f.keys = append(f.keys, k.Key); len(f.keys) == 1 {
			f.Effect = effect.Clone(k.Zero)
			effect.Each(reflect.ValueOf(f.Effect).Elem(), get)
		}
	}
	if len(f.keys) > 1 {
		f.Effect = nil
		return
	}
	f.keys = nil
	for i := range x.NumField() {
		key, _, _ := strings.Cut(form().Field(i).Tag.Get("yaml"), ",")
		if !taken[key] && !x.Field(i).IsZero() {
			f.extra = append(f.extra, key)
		}
	}
}

// serverForms are the keys of faults that may name servers of a service, with those of the faults that these
// are.
var serverForms = [][2]string{{"cut", "cut-server"}, {"kill", "kill-server"}, {"pause", "pause-server"},
	{"clock", "clock-server"}}

// toServers makes a form that names servers under a key of nodes or links, one that names them under the key
// of servers.
func toServers(x reflect.Value) {
	for _, keys := range serverForms {
		from, to := x.Field(index(keys[0])), x.Field(index(keys[1]))
		if from.IsNil() || !to.IsNil() {
			continue
		}
		if servers := from.Interface().(interface{ Servers() any }).Servers(); servers != nil {
			to.Set(reflect.ValueOf(servers))
			from.SetZero()
		}
	}
}

// MarshalYAML implements yaml.Marshaler.
func (f Fault) MarshalYAML() (any, error) { return f.toForm().Interface(), nil }

// MarshalJSON implements json.Marshaler.
func (f Fault) MarshalJSON() ([]byte, error) { return json.Marshal(f.toForm().Interface()) }

// UnmarshalYAML implements yaml.Unmarshaler.
func (f *Fault) UnmarshalYAML(n *yaml.Node) error {
	x := reflect.New(form())
	if err := n.Decode(x.Interface()); err != nil {
		return err
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if _, known := places()[key.Value]; !known {
			return fmt.Errorf("line %d: there is no key %s", key.Line, key.Value)
		}
	}
	f.fromForm(x.Elem())
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Fault) UnmarshalJSON(text []byte) error {
	x := reflect.New(form())
	if err := json.Unmarshal(text, x.Interface()); err != nil {
		return err
	}
	f.fromForm(x.Elem())
	return nil
}

// Keys has a value of each key of a fault, of all kinds, for flags to set.
type Keys struct{ form reflect.Value }

// NewKeys returns keys without values.
func NewKeys() Keys {
	x := reflect.New(form()).Elem()
	for _, k := range effect.Kinds {
		field := x.Field(index(k.Key))
		field.Set(reflect.New(field.Type().Elem()))
	}
	return Keys{x}
}

// Value returns a pointer to the value of a key.
func (k Keys) Value(key string) any {
	field := k.form.Field(index(key))
	if effect.Find(key) != nil {
		return field.Interface()
	}
	return field.Addr().Interface()
}

// Fault returns the fault of a kind that the keys make which it takes.
func (k Keys) Fault(kind *effect.Kind) (f Fault) {
	x := reflect.New(form()).Elem()
	take := func(key string, _ reflect.Value) { x.Field(index(key)).Set(k.form.Field(index(key))) }
	for _, key := range append(kind.Takes(), kind.Key) {
		take(key, reflect.Value{})
	}
	effect.Each(reflect.ValueOf(f.Schedule), take)
	f.fromForm(x)
	return f
}
