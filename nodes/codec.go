package nodes

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unsafe"
)

// A Codec numbers the message kinds of a stack, and knows their names, their MessageKinds, how to copy
// messages and how to encode them. It is safe for use by several goroutines.
//
// The bytes are the fields in order: integers as varints (signed ones zig-zag), booleans as a
// byte, strings and slices as their length and then their elements.
type Codec struct{ kinds []kindPlan }

type kindPlan struct {
	MessageKind
	name  string
	typ   reflect.Type
	word  unsafe.Pointer // the word by which an interface holds the type: quick to compare
	shape *shape
}

// typeWord returns the word by which the interface m holds the type of its value.
func typeWord(m Message) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// MaxKinds is how many kinds of messages a stack may have.
const MaxKinds = 64

// NewCodec returns the codec of kinds. It panics if a kind is not a struct of exported plain values.
func NewCodec(kinds []MessageKind) *Codec {
	c := &Codec{}
	for _, k := range kinds {
		c.add(k, k.name())
	}
	return c
}

func (c *Codec) add(k MessageKind, name string) {
	t := reflect.TypeOf(k.Zero)
	plain(t, t)
	c.kinds = append(c.kinds, kindPlan{k, name, t, typeWord(k.Zero), shapeOf(t)})
}

// stackCodec returns the codec of all instances. Instances of one algorithm share the numbers of their kinds.
// A name that kinds of several algorithms have follows the name of the algorithm, as in raymond.request.
func stackCodec(instances []Instance) (*Codec, error) {
	last := map[string]*Spec{} // by name of a kind: the algorithm that used it last
	shared := map[string]bool{}
	for _, in := range instances {
		for _, k := range in.Spec.messages(in.Config) {
			name := k.name()
			if first, there := last[name]; there && first != in.Spec {
				shared[name] = true
			}
			last[name] = in.Spec
		}
	}
	c := &Codec{}
	for _, in := range instances {
		for _, k := range in.Spec.messages(in.Config) {
			if c.KindOf(k.Zero) >= 0 {
				continue
			}
			name := k.name()
			if shared[name] {
				name = in.Spec.Name + "." + name
			}
			c.add(k, name)
		}
	}
	if len(c.kinds) > MaxKinds {
		return nil, fmt.Errorf("%d kinds of messages: a node has up to %d", len(c.kinds), MaxKinds)
	}
	return c, nil
}

// name returns the name of the kind: Name or, if that is empty, KindName.
func (k *MessageKind) name() string {
	if k.Name != "" {
		return k.Name
	}
	return KindName(k.Zero)
}

// KindName returns the name of a message's kind: its type in lower case, without the lower-case prefix and
// type arguments, so ricartRequest is a "request".
func KindName(m Message) string {
	name, _, _ := strings.Cut(reflect.TypeOf(m).Name(), "[")
	if at := strings.IndexFunc(name, unicode.IsUpper); at > 0 {
		name = name[at:]
	}
	return strings.ToLower(name)
}

// plain panics unless messages of type outer may hold values of type t.
func plain(outer, t reflect.Type) {
	switch t.Kind() {
	case reflect.Bool, reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.Slice:
		plain(outer, t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); !f.IsExported() {
				panic(fmt.Sprintf("message %v: field %s of %v is not exported", outer, f.Name, t))
			}
			plain(outer, t.Field(i).Type)
		}
	default:
		panic(fmt.Sprintf("message %v holds a %v, which is no plain value", outer, t))
	}
}

// Networks returns how many networks carry the messages: 2 if there is a second one (see MessageKind.Net).
func (c *Codec) Networks() int {
	most := uint8(0)
	for kind := range c.Kinds() {
		most = max(most, c.Kind(kind).Net)
	}
	return int(most) + 1
}

// Kinds returns how many kinds there are.
func (c *Codec) Kinds() int { return len(c.kinds) }

// Name returns the name of a kind.
func (c *Codec) Name(kind int) string { return c.kinds[kind].name }

// Names returns the names of all kinds, by their number.
func (c *Codec) Names() []string {
	names := make([]string, len(c.kinds))
	for kind, k := range c.kinds {
		names[kind] = k.name
	}
	return names
}

// Kind returns the MessageKind of a kind.
func (c *Codec) Kind(kind int) MessageKind { return c.kinds[kind].MessageKind }

// KindOf returns the number of m's kind, or -1 if the codec has no such kind.
func (c *Codec) KindOf(m Message) int {
	word := typeWord(m)
	for i := range c.kinds {
		if c.kinds[i].word == word {
			return i
		}
	}
	return -1
}

// Freeze returns m, or a copy of it if m shares memory with the machine that made it.
func (c *Codec) Freeze(kind int, m Message) Message {
	shape := c.kinds[kind].shape
	if !shape.shares {
		return m
	}
	fresh := reflect.New(c.kinds[kind].typ)
	fresh.Elem().Set(reflect.ValueOf(m))
	shape.fix(fresh.UnsafePointer())
	return fresh.Elem().Interface()
}

// Append appends the bytes of m, a message of kind, to dst.
func (c *Codec) Append(dst []byte, kind int, m Message) []byte {
	v := reflect.ValueOf(m)
	if v.Type() != c.kinds[kind].typ {
		panic(fmt.Sprintf("a %v is no %v", v.Type(), c.kinds[kind].typ))
	}
	return appendValue(dst, v)
}

func appendValue(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(dst, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(dst, v.Uint())
	case reflect.String:
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		return append(dst, v.String()...)
	case reflect.Slice:
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		for i := range v.Len() {
			dst = appendValue(dst, v.Index(i))
		}
		return dst
	default: // a struct: plain has checked it
		for i := range v.NumField() {
			dst = appendValue(dst, v.Field(i))
		}
		return dst
	}
}

// Decoder returns a decoder of the codec's messages, for one goroutine.
func (c *Codec) Decoder() *Decoder { return &Decoder{c, make([]reflect.Value, len(c.kinds))} }

// A Decoder decodes the messages of a codec. It reuses memory for messages of one kind.
type Decoder struct {
	codec   *Codec
	scratch []reflect.Value // by kind; allocated when the first message of the kind comes
}

// Decode reads a message of kind from all of b. Bytes that do not encode one give an error.
func (d *Decoder) Decode(kind int, b []byte) (Message, error) {
	if kind < 0 || kind >= len(d.scratch) {
		return nil, fmt.Errorf("not a message of this kind: there is no kind %d", kind)
	}
	v := d.scratch[kind]
	if !v.IsValid() {
		v = reflect.New(d.codec.kinds[kind].typ).Elem()
		d.scratch[kind] = v
	}
	v.SetZero() // the fields of an earlier message must neither remain nor share memory with this message
	rest, ok := decodeValue(v, b)
	if !ok || len(rest) > 0 {
		return nil, fmt.Errorf("not a message of this kind (%s): % x", d.codec.kinds[kind].name,
			b[:min(len(b), 32)])
	}
	return v.Interface(), nil
}

// decodeValue sets v from the beginning of b and returns what is left of b.
func decodeValue(v reflect.Value, b []byte) ([]byte, bool) {
	switch v.Kind() {
	case reflect.Bool:
		if len(b) == 0 || b[0] > 1 {
			return nil, false
		}
		v.SetBool(b[0] == 1)
		return b[1:], true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, size := binary.Varint(b)
		if size <= 0 || v.OverflowInt(x) {
			return nil, false
		}
		v.SetInt(x)
		return b[size:], true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x, size := binary.Uvarint(b)
		if size <= 0 || v.OverflowUint(x) {
			return nil, false
		}
		v.SetUint(x)
		return b[size:], true
	case reflect.String:
		length, b, ok := decodeLength(b)
		if !ok {
			return nil, false
		}
		v.SetString(string(b[:length]))
		return b[length:], true
	case reflect.Slice:
		length, b, ok := decodeLength(b)
		if !ok {
			return nil, false
		}
		if length > 0 {
			v.Set(reflect.MakeSlice(v.Type(), length, length))
		}
		for i := range length {
			if b, ok = decodeValue(v.Index(i), b); !ok {
				return nil, false
			}
		}
		return b, true
	default:
		ok := true
		for i := range v.NumField() {
			if b, ok = decodeValue(v.Field(i), b); !ok {
				return nil, false
			}
		}
		return b, true
	}
}

// decodeLength reads how many elements follow. Each element takes a byte or more, so decodeLength refuses a
// length that the rest of b cannot hold: no memory is allocated for it. (Empty structs take no bytes, but no
// message has a slice of them.)
func decodeLength(b []byte) (int, []byte, bool) {
	x, size := binary.Uvarint(b)
	if size <= 0 || x > uint64(len(b)-size) {
		return 0, nil, false
	}
	return int(x), b[size:], true
}
