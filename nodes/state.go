package nodes

import (
	"fmt"
	"reflect"
	"strings"
)

// stateOf prints the state of a machine for people, its fields in order, by their names, as in
// clock=3 voter{locked: 1 queue: [{clock: 2 id: 0}]}. It reads any plain value by reflection, so that no
// algorithm holds code for it.
func stateOf(machine any) string {
	var b strings.Builder
	v := reflect.ValueOf(machine)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		describe(&b, v)
		return b.String()
	}
	describeFields(&b, v, "=")
	return b.String()
}

// describeFields prints the fields of a struct, with is between the name and the value of one that is none.
func describeFields(b *strings.Builder, v reflect.Value, is string) {
	for i := range v.NumField() {
		if i > 0 {
			b.WriteByte(' ')
		}
		field := v.Field(i)
		b.WriteString(v.Type().Field(i).Name)
		if field.Kind() != reflect.Struct || field.Type() == setType {
			b.WriteString(is)
		}
		describe(b, field)
	}
}

var setType = reflect.TypeFor[Set]()

func describe(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == setType {
			b.WriteString(setAt(v).String())
			return
		}
		b.WriteByte('{')
		describeFields(b, v, ": ")
		b.WriteByte('}')
	case reflect.Slice, reflect.Array:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(' ')
			}
			describe(b, v.Index(i))
		}
		b.WriteByte(']')
	default:
		fmt.Fprint(b, v)
	}
}

// setAt reads a Set that may be in an unexported field, which reflection reads but does not return.
func setAt(v reflect.Value) Set {
	var s Set
	words := v.FieldByName("words")
	for i := range words.Len() {
		s.words = append(s.words, words.Index(i).Uint())
	}
	s.size = int32(v.FieldByName("size").Int())
	return s
}
