package nodes

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// This file copies and encodes the state of any machine and any message by their types alone, so algorithms
// need no code for it. Values must be plain: without maps, pointers, functions, channels and interfaces. No
// two values may share memory.

// A shape knows how to copy and to encode values of one plain type. It is safe for use by several goroutines.
type shape struct {
	typ    reflect.Type
	fields []field
	flat   bool // a value is one run of memory without gaps
	shares bool // a shallow copy would share memory with the original
}

// A field of a shape is a run of memory, or a slice, a string or a set, which refer to other memory.
type field struct {
	what   fieldKind
	offset uintptr
	size   uintptr      // bytes of a run
	elem   *shape       // the shape of a slice's elements
	typ    reflect.Type // the type of a slice
}

type fieldKind uint8

const (
	run fieldKind = iota
	sliceField
	stringField
	setField
)

var shapes sync.Map // from reflect.Type to *shape

// shapeOf returns the shape of the values of type t. It panics if they are not plain.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{typ: t}
	s.add(t, 0)
	s.flat = len(s.fields) == 0 || len(s.fields) == 1 && s.fields[0].what == run && s.fields[0].size == t.Size()
	s.shares = slices.ContainsFunc(s.fields, func(f field) bool {
		return f.what == sliceField || f.what == setField
	})
	shapes.Store(t, s)
	return s
}

// add appends the fields of a value of type t at an offset.
func (s *shape) add(t reflect.Type, offset uintptr) {
	switch t.Kind() {
	case reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := len(s.fields); n > 0 {
			if last := &s.fields[n-1]; last.what == run && last.offset+last.size == offset {
				last.size += t.Size()
				return
			}
		}
		s.fields = append(s.fields, field{what: run, offset: offset, size: t.Size()})
	case reflect.String:
		s.fields = append(s.fields, field{what: stringField, offset: offset})
	case reflect.Slice:
		s.fields = append(s.fields, field{what: sliceField, offset: offset, elem: shapeOf(t.Elem()), typ: t})
	case reflect.Array:
		for i := range t.Len() {
			s.add(t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		if t == setType {
			s.fields = append(s.fields, field{what: setField, offset: offset})
			return
		}
		for i := range t.NumField() {
			s.add(t.Field(i).Type, offset+t.Field(i).Offset)
		}
	default:
		panic(fmt.Sprintf("a %v in %v is not plain", t, s.typ))
	}
}

// sliceHeader is the memory layout of a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// fix makes the shallow copy at p a deep one.
func (s *shape) fix(p unsafe.Pointer) {
	for i := range s.fields {
		field := &s.fields[i]
		at := unsafe.Add(p, field.offset)
		switch field.what {
		case setField:
			set := (*Set)(at)
			*set = set.Clone()
		case sliceField:
			old := (*sliceHeader)(at)
			if old.len == 0 {
				reflect.NewAt(field.typ, at).Elem().SetZero()
				continue
			}
			from := reflect.NewAt(field.typ, at).Elem()
			to := reflect.MakeSlice(field.typ, old.len, old.len)
			reflect.Copy(to, from)
			from.Set(to)
			if !field.elem.flat {
				for j := range old.len {
					field.elem.fix(unsafe.Add(old.data, uintptr(j)*field.elem.typ.Size()))
				}
			}
		}
	}
}

// append appends the encoded value at p.
func (s *shape) append(b []byte, p unsafe.Pointer) []byte {
	for i := range s.fields {
		field := &s.fields[i]
		at := unsafe.Add(p, field.offset)
		switch field.what {
		case run:
			b = append(b, unsafe.Slice((*byte)(at), field.size)...)
		case stringField:
			text := *(*string)(at)
			b = append(appendLength(b, len(text)), text...)
		case setField:
			b = (*Set)(at).appendState(b)
		case sliceField:
			slice := (*sliceHeader)(at)
			b = appendLength(b, slice.len)
			if field.elem.flat {
				b = append(b, unsafe.Slice((*byte)(slice.data), uintptr(slice.len)*field.elem.typ.Size())...)
				continue
			}
			for j := range slice.len {
				b = field.elem.append(b, unsafe.Add(slice.data, uintptr(j)*field.elem.typ.Size()))
			}
		}
	}
	return b
}

// appendState appends the members of the set. Trailing zero words make no difference.
func (s *Set) appendState(b []byte) []byte {
	words := s.words
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	b = appendLength(b, len(words))
	for _, w := range words {
		b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24),
			byte(w>>32), byte(w>>40), byte(w>>48), byte(w>>56))
	}
	return b
}

func appendLength(b []byte, n int) []byte { return append(b, byte(n), byte(n>>8), byte(n>>16)) }

// cloneMachine returns a copy of m, a pointer to a plain struct, that shares no memory with it.
func cloneMachine(m Machine) Machine {
	v := reflect.ValueOf(m)
	fresh := reflect.New(v.Type().Elem())
	fresh.Elem().Set(v.Elem())
	shapeOf(v.Type().Elem()).fix(fresh.UnsafePointer())
	return fresh.Interface().(Machine)
}

// appendMachine appends the state of m, a pointer to a plain struct. Two states of one type give equal bytes
// only if they are equal.
func appendMachine(b []byte, m Machine) []byte {
	v := reflect.ValueOf(m)
	return shapeOf(v.Type().Elem()).append(b, v.UnsafePointer())
}
