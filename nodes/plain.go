package nodes

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// What stands here copies and fingerprints the state of any machine and any message by their types alone,
// so that no algorithm holds code for it and none can get it wrong. It rests on their being plain: no
// maps, pointers, functions, channels or interfaces, and no memory that two of them share.

// A Shape knows how to copy and to write out values of one plain type. It is safe for use by several
// goroutines.
type Shape struct {
	typ   reflect.Type
	parts []part
	flat  bool // one run of memory without gaps is all there is to it
}

// A part of a shape is a run of memory, or a slice, a string or a set, which refer to more.
type part struct {
	what   partKind
	offset uintptr
	size   uintptr      // of a run
	elem   *Shape       // of a slice
	typ    reflect.Type // of a slice
}

type partKind uint8

const (
	run partKind = iota
	slicePart
	stringPart
	setPart
)

var shapes sync.Map // from reflect.Type to *Shape

// ShapeOf returns the shape of the values of type t. It panics if they are not plain.
func ShapeOf(t reflect.Type) *Shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*Shape)
	}
	s := &Shape{typ: t}
	s.add(t, 0)
	s.flat = len(s.parts) == 0 || len(s.parts) == 1 && s.parts[0].what == run && s.parts[0].size == t.Size()
	shapes.Store(t, s)
	return s
}

// add appends the parts of a value of type t that stands at offset.
func (s *Shape) add(t reflect.Type, offset uintptr) {
	switch t.Kind() {
	case reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := len(s.parts); n > 0 && s.parts[n-1].what == run && s.parts[n-1].offset+s.parts[n-1].size == offset {
			s.parts[n-1].size += t.Size()
			return
		}
		s.parts = append(s.parts, part{what: run, offset: offset, size: t.Size()})
	case reflect.String:
		s.parts = append(s.parts, part{what: stringPart, offset: offset})
	case reflect.Slice:
		s.parts = append(s.parts, part{what: slicePart, offset: offset, elem: ShapeOf(t.Elem()), typ: t})
	case reflect.Array:
		for i := range t.Len() {
			s.add(t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		if t == setType {
			s.parts = append(s.parts, part{what: setPart, offset: offset})
			return
		}
		for i := range t.NumField() {
			s.add(t.Field(i).Type, offset+t.Field(i).Offset)
		}
	default:
		panic(fmt.Sprintf("a %v in %v is not plain", t, s.typ))
	}
}

// sliceHeader is what a slice is in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// fix replaces what the fresh copy at p shares with its original.
func (s *Shape) fix(p unsafe.Pointer) {
	for i := range s.parts {
		part := &s.parts[i]
		at := unsafe.Add(p, part.offset)
		switch part.what {
		case setPart:
			set := (*Set)(at)
			*set = set.Clone()
		case slicePart:
			old := (*sliceHeader)(at)
			if old.len == 0 {
				reflect.NewAt(part.typ, at).Elem().SetZero()
				continue
			}
			from := reflect.NewAt(part.typ, at).Elem()
			to := reflect.MakeSlice(part.typ, old.len, old.len)
			reflect.Copy(to, from)
			from.Set(to)
			if !part.elem.flat {
				for j := range old.len {
					part.elem.fix(unsafe.Add(old.data, uintptr(j)*part.elem.typ.Size()))
				}
			}
		}
	}
}

// append writes out the value at p.
func (s *Shape) append(b []byte, p unsafe.Pointer) []byte {
	for i := range s.parts {
		part := &s.parts[i]
		at := unsafe.Add(p, part.offset)
		switch part.what {
		case run:
			b = append(b, unsafe.Slice((*byte)(at), part.size)...)
		case stringPart:
			text := *(*string)(at)
			b = append(appendLength(b, len(text)), text...)
		case setPart:
			b = (*Set)(at).appendState(b)
		case slicePart:
			slice := (*sliceHeader)(at)
			b = appendLength(b, slice.len)
			if part.elem.flat {
				b = append(b, unsafe.Slice((*byte)(slice.data), uintptr(slice.len)*part.elem.typ.Size())...)
				continue
			}
			for j := range slice.len {
				b = part.elem.append(b, unsafe.Add(slice.data, uintptr(j)*part.elem.typ.Size()))
			}
		}
	}
	return b
}

// appendState writes the set out. How far its memory reaches makes no difference.
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

// CloneMachine returns a copy of m, a pointer to a plain struct, that shares no memory with it.
func CloneMachine(m Machine) Machine {
	v := reflect.ValueOf(m)
	fresh := reflect.New(v.Type().Elem())
	fresh.Elem().Set(v.Elem())
	ShapeOf(v.Type().Elem()).fix(fresh.UnsafePointer())
	return fresh.Interface().(Machine)
}

// AppendMachine writes out the state of m, a pointer to a plain struct. Equal states give equal bytes,
// and different states of one type different ones.
func AppendMachine(b []byte, m Machine) []byte {
	v := reflect.ValueOf(m)
	return ShapeOf(v.Type().Elem()).append(b, v.UnsafePointer())
}

// eface is what an interface value is in memory: its type, and where its value stands.
type eface struct{ typ, data unsafe.Pointer }

// AppendMessage writes out a message, a plain struct: equal messages of one type give equal bytes.
func AppendMessage(b []byte, m Message) []byte {
	// A struct in an interface stands behind a pointer, unless it is itself no more than one pointer,
	// which a plain struct is not.
	return ShapeOf(reflect.TypeOf(m)).append(b, (*eface)(unsafe.Pointer(&m)).data)
}
