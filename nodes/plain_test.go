package nodes

import (
	"bytes"
	"reflect"
	"testing"
)

type everything struct {
	Flag  bool
	Small int8
	Big   uint64
	Text  string
	List  []uint64
	Deep  [][]int32
	Pairs []struct {
		A bool
		B []byte
	}
	hidden  uint32
	members Set
	fixed   [3]int16
	nested  struct{ x, y uint8 }
}

func (*everything) Receive(*Env, ID, Message) {}

func full() *everything {
	e := &everything{Flag: true, Small: -3, Big: 1 << 60, Text: "text", List: []uint64{1, 2, 3},
		Deep: [][]int32{{1}, nil, {2, 3}}, hidden: 9, members: SetOf(1, 70), fixed: [3]int16{7, 8, 9}}
	e.Pairs = append(e.Pairs, struct {
		A bool
		B []byte
	}{true, []byte{4, 5}})
	e.nested.y = 200
	return e
}

func TestCloneIsEqualAndSharesNothing(t *testing.T) {
	original := full()
	before := appendMachine(nil, original)
	clone := cloneMachine(original).(*everything)
	if !reflect.DeepEqual(original, clone) {
		t.Fatalf("the clone of %+v is %+v", original, clone)
	}
	clone.List[0]++
	clone.Deep[2][1]++
	clone.Pairs[0].B[0]++
	clone.Pairs[0].A = false
	clone.members.Add(3)
	clone.nested.x = 1
	if !bytes.Equal(appendMachine(nil, original), before) {
		t.Error("a change to the clone has changed the original")
	}
}

func TestEveryPartOfAStateCounts(t *testing.T) {
	base := string(appendMachine(nil, full()))
	for name, change := range map[string]func(*everything){
		"Flag":    func(e *everything) { e.Flag = false },
		"Small":   func(e *everything) { e.Small++ },
		"Big":     func(e *everything) { e.Big++ },
		"Text":    func(e *everything) { e.Text += "!" },
		"List":    func(e *everything) { e.List[2]++ },
		"length":  func(e *everything) { e.List = e.List[:2] },
		"Deep":    func(e *everything) { e.Deep[2][0]++ },
		"split":   func(e *everything) { e.Deep = [][]int32{{1}, {2}, {3}} },
		"Pairs":   func(e *everything) { e.Pairs[0].B[1]++ },
		"hidden":  func(e *everything) { e.hidden++ },
		"members": func(e *everything) { e.members.Remove(70) },
		"fixed":   func(e *everything) { e.fixed[1]++ },
		"nested":  func(e *everything) { e.nested.y++ },
	} {
		e := full()
		change(e)
		if string(appendMachine(nil, e)) == base {
			t.Errorf("a change to %s does not show", name)
		}
	}
}

func TestNilAndEmptyAreEqual(t *testing.T) {
	a, b := &everything{}, &everything{List: []uint64{}, Deep: [][]int32{}, members: SetOf(200)}
	b.members.Remove(200)
	if !bytes.Equal(appendMachine(nil, a), appendMachine(nil, b)) {
		t.Error("nil and empty differ")
	}
}

func TestShapesRefuseWhatIsNotPlain(t *testing.T) {
	for _, v := range []any{struct{ M map[int]int }{}, struct{ P *int }{}, struct{ F func() }{},
		struct{ C chan int }{}, struct{ I any }{}, struct{ D []struct{ P *int } }{}, struct{ F float64 }{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T passes for plain", v)
				}
			}()
			shapeOf(reflect.TypeOf(v))
		}()
	}
}
