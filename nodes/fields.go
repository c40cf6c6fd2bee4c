package nodes

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// A Field is a field of a machine or a message, for people.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// FieldsOf returns the fields of a machine or a message, those of embedded structs among them.
func FieldsOf(of any) []Field {
	v := reflect.ValueOf(of)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	return appendFields(nil, v)
}

func appendFields(all []Field, v reflect.Value) []Field {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct && field.Type != setType {
			all = appendFields(all, v.Field(i))
			continue
		}
		var b strings.Builder
		describe(&b, v.Field(i))
		all = append(all, Field{field.Name, b.String()})
	}
	return all
}

// stateOf prints the fields of a machine for people, as in
// clock=3 voter{locked: 1 queue: [{clock: 2 id: 0}]}. It reads any plain value by reflection.
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

// describeFields prints the fields of a struct, with a separator before values that are Sets or no structs.
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
		if v.Type() == reflect.TypeFor[time.Duration]() {
			fmt.Fprint(b, time.Duration(v.Int())) // that of an unexported field would be printed as a number
			return
		}
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
