// Package yamlfile decodes YAML that people wrote. Its errors name lines, keys and values, not Go types.
package yamlfile

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"turnstile/internal/suggest"

	"go.yaml.in/yaml/v3"
)

// Decode reads b into v, a pointer to a struct. A key that v does not have is an error. An empty b gives
// io.EOF.
func Decode(b []byte, v any) error {
	in := yaml.NewDecoder(bytes.NewReader(b))
	in.KnownFields(true)
	err := in.Decode(v)
	if err == nil {
		return nil
	}
	var document yaml.Node
	switch wrong := yaml.Unmarshal(b, &document); {
	case wrong != nil:
		return cmp.Or(TabError(b), wrong)
	case len(document.Content) > 0:
		if better := misfit(document.Content[0], reflect.TypeOf(v).Elem(), ""); better != nil {
			return better
		}
	}
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) { // an error such as a key that occurs twice
		return errors.New(wrong.Errors[0])
	}
	return err
}

// TabError returns an error about the first line of b that is indented by a tab, the likely cause if b is not
// YAML; nil if b has no such line.
func TabError(b []byte) error {
	for i, line := range bytes.Split(b, []byte("\n")) {
		text := bytes.TrimLeft(line, " \t")
		if len(bytes.TrimSpace(text)) > 0 && bytes.ContainsRune(line[:len(line)-len(text)], '\t') {
			return fmt.Errorf("line %d is indented by a tab: write spaces there, as YAML takes no tabs", i+1)
		}
	}
	return nil
}

// misfit returns an error about the first node, n or one below it, that cannot be decoded into a value of
// type t, or nil. path has the keys that lead to n.
func misfit(n *yaml.Node, t reflect.Type, path string) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	fresh := reflect.New(t).Interface()
	if formed, is := fresh.(interface{ Form(*yaml.Node) any }); is { // n is decoded into another struct
		t = reflect.TypeOf(formed.Form(n)).Elem()
	}
	_, readsText := fresh.(encoding.TextUnmarshaler)
	switch {
	case readsText:
	case n.Kind == yaml.MappingNode && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
		return misfitBelow(n, t, path)
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for i, item := range n.Content {
			if err := misfit(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	err := n.Decode(fresh)
	switch {
	case err == nil:
		return nil
	case readsText && n.Kind == yaml.ScalarNode && t != reflect.TypeFor[time.Time]():
		return fmt.Errorf("line %d: %s: %w", n.Line, path, err) // the error of the type says what to write
	case readsText && n.Kind != yaml.ScalarNode:
		t = reflect.TypeFor[string]()
	case t == reflect.TypeFor[time.Duration]() && n.Kind == yaml.ScalarNode:
		if unit := suggest.Unit(n.Value, "s"); unit != nil {
			return fmt.Errorf("line %d: %s: %w", n.Line, path, unit)
		}
	}
	return fmt.Errorf("line %d: %s is not %s", n.Line, spell(n, path), formOf(t))
}

// misfitBelow is misfit for a mapping.
func misfitBelow(n *yaml.Node, t reflect.Type, path string) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		below := strings.TrimPrefix(path+"."+cut(key.Value), ".")
		of, known := typeBelow(t, key.Value)
		if of == nil {
			return fmt.Errorf("line %d: there is no key %s%s", key.Line, below, suggest.Hint(key.Value, known))
		}
		if err := misfit(value, of, below); err != nil {
			return err
		}
	}
	return nil
}

// typeBelow returns the type of the value of a key of t, or nil and the known keys.
func typeBelow(t reflect.Type, key string) (of reflect.Type, known []string) {
	if t.Kind() == reflect.Map {
		return t.Elem(), nil
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name == key && key != "-" && key != "" {
			return t.Field(i).Type, nil
		}
		if name != "-" && name != "" { // the field has a key in the file
			known = append(known, name)
		}
	}
	return nil, known
}

// spell describes the value n at path.
func spell(n *yaml.Node, path string) string {
	what := fmt.Sprintf("%q", cut(n.Value))
	switch n.Kind {
	case yaml.MappingNode:
		what = "a mapping"
	case yaml.SequenceNode:
		what = "a list"
	}
	if path == "" {
		if n.Kind == yaml.ScalarNode { // the whole document, which may be any file, even a secret one
			what = "a text"
		}
		return what
	}
	return path + ": " + what
}

// cut returns the beginning of a long text: a wrong file must not be printed.
func cut(text string) string {
	const most = 40
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "..."
	}
	return text
}

// formOf describes the texts for a value of a type.
func formOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a length of time, such as 300ms"
	case reflect.TypeFor[time.Time]():
		return "a time, such as 2026-01-31T14:05:09Z"
	}
	return map[reflect.Kind]string{
		reflect.Int:     "a whole number",
		reflect.Uint64:  "a whole number from 0",
		reflect.Float64: "a number",
		reflect.Bool:    "true or false",
		reflect.String:  "one text",
		reflect.Slice:   "a list",
		reflect.Map:     "keys with values",
		reflect.Struct:  "keys with values",
	}[t.Kind()]
}
