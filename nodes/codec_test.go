package nodes_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/nodes"
)

type tyAll struct {
	B   bool
	I8  int8
	I   int64
	U16 uint16
	U   uint64
	S   string
	L   []nodes.ID
	R   []tyPart
}

type tyPart struct {
	Name string
	Sub  []uint32
}

// codecs returns the codecs of all algorithms, and one with every type.
func codecs() map[string]*nodes.Codec {
	all := map[string]*nodes.Codec{"all types": nodes.NewCodec([]nodes.MessageKind{{Zero: tyAll{}}})}
	for _, algo := range mutex.Table {
		all[algo.Name] = nodes.NewCodec(algo.Messages)
	}
	return all
}

// zeros returns the zero messages of the kinds of a codec, in the order of their numbers.
func zeros(c *nodes.Codec, name string) []nodes.Message {
	if algo, err := mutex.Find(name); err == nil {
		var all []nodes.Message
		for _, k := range algo.Messages {
			all = append(all, k.Zero)
		}
		return all
	}
	return []nodes.Message{tyAll{}}
}

// fill returns a random message of m's type.
func fill(rng *rand.Rand, m nodes.Message) nodes.Message {
	v := reflect.New(reflect.TypeOf(m)).Elem()
	fillValue(rng, v)
	return v.Interface()
}

func fillValue(rng *rand.Rand, v reflect.Value) {
	bits := rng.Uint64() >> rng.IntN(64)
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(bits&1 != 0)
	case reflect.String:
		v.SetString("turnstile"[:bits%9])
	case reflect.Slice:
		if n := rng.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fillValue(rng, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(rng, v.Field(i))
		}
	default:
		v.Set(reflect.ValueOf(bits).Convert(v.Type()))
	}
}

// Every message of every algorithm is the same after it is encoded and decoded.
func TestRoundTrip(t *testing.T) {
	for name, codec := range codecs() {
		rng := rand.New(rand.NewPCG(1, 1))
		for kind, zero := range zeros(codec, name) {
			if codec.KindOf(zero) != kind || codec.Name(kind) != nodes.KindName(zero) {
				t.Errorf("%s: %T is kind %d, %s", name, zero, codec.KindOf(zero), codec.Name(kind))
			}
			for range 100 {
				m := fill(rng, zero)
				b := codec.Append([]byte{1, 2}, kind, m)
				back, err := codec.Decoder().Decode(kind, b[2:])
				if err != nil || !reflect.DeepEqual(back, m) {
					t.Fatalf("%s: %#v comes back as %#v, %v", name, m, back, err)
				}
				if frozen := codec.Freeze(kind, m); !reflect.DeepEqual(frozen, m) {
					t.Fatalf("%s: %#v is frozen to %#v", name, m, frozen)
				}
				if len(b) > 2 {
					if _, err := codec.Decoder().Decode(kind, b[2:len(b)-1]); err == nil {
						t.Fatalf("%s: %#v without its last byte: %v", name, m, err)
					}
				}
			}
		}
	}
}

func TestFreezeShares(t *testing.T) {
	codec := nodes.NewCodec([]nodes.MessageKind{{Zero: tyAll{}}})
	m := tyAll{L: []nodes.ID{1}, R: []tyPart{{Sub: []uint32{2}}}}
	frozen := codec.Freeze(0, m).(tyAll)
	m.L[0], m.R[0].Sub[0] = 9, 9
	if frozen.L[0] != 1 || frozen.R[0].Sub[0] != 2 {
		t.Errorf("the frozen message follows: %v", frozen)
	}
	if empty := codec.Freeze(0, tyAll{L: []nodes.ID{}}).(tyAll); empty.L != nil {
		t.Error("an empty slice stays apart from nil")
	}
}

// Messages of one decoder share no memory, and no message keeps fields of an earlier message.
func TestDecodedMessagesAreApart(t *testing.T) {
	codec := nodes.NewCodec([]nodes.MessageKind{{Zero: tyAll{}}})
	d := codec.Decoder()
	decode := func(m tyAll) tyAll {
		got, err := d.Decode(0, codec.Append(nil, 0, m))
		if err != nil {
			t.Fatal(err)
		}
		return got.(tyAll)
	}
	first := decode(tyAll{S: "first", L: []nodes.ID{1, 2}, R: []tyPart{{Sub: []uint32{3}}}})
	second := decode(tyAll{L: []nodes.ID{4}})
	if second.S != "" || second.R != nil || len(second.L) != 1 {
		t.Errorf("the second message holds what the first held: %+v", second)
	}
	if second.L[0] = 9; first.L[0] != 1 || first.R[0].Sub[0] != 3 {
		t.Errorf("the first message follows the second: %+v", first)
	}
}

func TestCodecRefuses(t *testing.T) {
	codec := nodes.NewCodec([]nodes.MessageKind{{Zero: tyPart{}}})
	for _, b := range []string{"", "\x05ab", "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x00\x00\x00",
		"\x00\x01\x80\x80\x80\x80\x80\x01"} {
		if m, err := codec.Decoder().Decode(0, []byte(b)); err == nil {
			t.Errorf("% x is %v, %v", b, m, err)
		}
	}
	if _, err := codec.Decoder().Decode(1, nil); err == nil {
		t.Errorf("there is no kind 1: %v", err)
	}
	for name, zero := range map[string]any{
		"a map": struct{ M map[int]int }{}, "a pointer": struct{ P *int }{}, "what is hidden": struct{ x int }{},
		"a float": struct{ F float64 }{}, "an array": struct{ A [2]int }{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a message may hold %s", name)
				}
			}()
			nodes.NewCodec([]nodes.MessageKind{{Zero: zero}})
		}()
	}
}

// Decode does not panic for any bytes, and encoding its message and decoding again gives the same message.
func FuzzDecode(f *testing.F) {
	all := codecs()
	names := []string{"all types"}
	for _, algo := range mutex.Table {
		names = append(names, algo.Name)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for at, name := range names {
		for kind, zero := range zeros(all[name], name) {
			f.Add(uint8(at), uint8(kind), all[name].Append(nil, kind, fill(rng, zero)))
		}
	}
	f.Fuzz(func(t *testing.T, at, kind uint8, b []byte) {
		codec := all[names[int(at)%len(names)]]
		m, err := codec.Decoder().Decode(int(kind), b)
		if err != nil {
			return
		}
		again, err := codec.Decoder().Decode(int(kind), codec.Append(nil, int(kind), m))
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("%#v comes back as %#v, %v", m, again, err)
		}
	})
}
