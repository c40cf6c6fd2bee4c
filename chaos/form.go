package chaos

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"turnstile/chaos/effect"
	"turnstile/nodes/port"
)

// forms returns the type of the struct that a Fault is encoded as in YAML and JSON. The struct has the keys
// of all effects in one list. forms also returns the index of each key in it.
var forms = sync.OnceValues(makeForm)

func makeForm() (reflect.Type, map[string]int) {
	var fields []reflect.StructField
	index := map[string]int{}
	add := func(key string, field reflect.Value) {
		if _, has := index[key]; has {
			return // the key belongs to several effects
		}
		of, omit := field.Type(), "omitzero"
		if effect.Find(key) != nil { // kill: 0 is a fault, so a zero must differ from a missing key
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

// form returns the type of the struct that faults are encoded as.
func form() reflect.Type {
	form, _ := forms()
	return form
}

// places returns the index of each key in the form.
func places() map[string]int {
	_, index := forms()
	return index
}

// index returns the index of a key in the form.
func index(key string) int { return places()[key] }

// Form returns a pointer to an empty form, to decode n into. It replaces keys of earlier versions in n.
func (*Fault) Form(n *yaml.Node) any {
	upgrade(n)
	return reflect.New(form()).Interface()
}

// toForm returns the struct that the fault is encoded as.
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

// fromForm sets f to the fault that is encoded in a struct.
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
	for _, k := range effect.Kinds {
		if k.Flag == "" || x.Field(index(k.Key)).IsNil() { // a kind without a flag shares its key with another
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

// earlier maps keys of earlier versions to the keys and roles that replace them.
var earlier = map[string]struct {
	key  string
	role port.Role
}{"kill-broker": {"kill", port.Broker}, "kill-server": {"kill", port.Server},
	"pause-broker": {"pause", port.Broker}, "pause-server": {"pause", port.Server},
	"clock-server": {"clock", port.Server}, "cut-server": {"cut", port.Server},
	"cut-routes": {"cut", port.Broker}, "cut-network": {"cut", port.Host}}

// upgrade replaces keys of earlier versions in the YAML of a fault. A value that the earlier key did not take
// stays as it is, and is refused as an unknown key.
func upgrade(n *yaml.Node) {
	has := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		has[n.Content[i].Value] = true
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		was, is := earlier[key.Value]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if !is || has[was.key] || value.Kind != yaml.ScalarNode {
			continue
		}
		of := *value // a copy, since another fault may alias the value
		of.Anchor, of.Tag = "", "!!str"
		role := was.role.String() + " "
		switch {
		case of.Value == "":
			of.Tag = value.Tag
		case was.role == port.Host:
			if has["kernel"] {
				continue
			}
			n.Content = append(n.Content,
				&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "kernel", Line: key.Line},
				&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true", Line: key.Line})
		case was.key == "cut" && was.role == port.Broker:
			of.Value = role + strings.ReplaceAll(strings.ReplaceAll(of.Value, role, ""), "/", "/"+role)
		case was.key == "cut" && !strings.Contains(of.Value, was.role.String()):
			continue
		case was.key != "cut" && !strings.HasPrefix(of.Value, role):
			of.Value = role + of.Value
		}
		key.Value, n.Content[i+1], has[was.key] = was.key, &of, true
	}
}

// MarshalYAML implements yaml.Marshaler.
func (f Fault) MarshalYAML() (any, error) { return f.toForm().Interface(), nil }

// MarshalJSON implements json.Marshaler.
func (f Fault) MarshalJSON() ([]byte, error) { return json.Marshal(f.toForm().Interface()) }

// UnmarshalYAML implements yaml.Unmarshaler.
func (f *Fault) UnmarshalYAML(n *yaml.Node) error {
	x := reflect.New(form())
	upgrade(n)
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

// Keys has a value for each key of every kind of fault, for flags to set.
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

// Fault returns the fault of the kind with a key, with the values of all keys that this kind takes.
func (k Keys) Fault(key string) (f Fault) {
	x := reflect.New(form()).Elem()
	take := func(key string, _ reflect.Value) { x.Field(index(key)).Set(k.form.Field(index(key))) }
	effect.Each(reflect.ValueOf(effect.Find(key).Zero).Elem(), take)
	f.fromForm(x)
	takes := append(f.kind().Takes(), key)
	x.SetZero()
	for _, key := range takes {
		take(key, reflect.Value{})
	}
	effect.Each(reflect.ValueOf(f.Schedule), take)
	f.fromForm(x)
	return f
}
