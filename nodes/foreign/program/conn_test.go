package program

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// The function plain reads a line as encoding/json does, and the answers that are written without
// encoding/json equal the answers that it would write.
func TestPlainLines(t *testing.T) {
	for text, want := range map[string]bool{
		`{"src":"c0","dest":"n0","body":{"type":"request","msg_id":5}}`:        true,
		`{"dest":"n0","src":"c0","body":{"msg_id":5,"type":"release"}}`:        true,
		`{"src":"timer","dest":"n0","body":{"type":"timer","id":"beat"}}`:      false,
		`{"src":"c0","dest":"n0","body":{"type":"request","msg_id":5}} `:       false,
		`{"src":"c0","dest":"n0","body":{"type":"request","msg_id":5,"a":[]}}`: false,
	} {
		got, is := plain([]byte(text))
		if is != want {
			t.Errorf("%s is plain: %v", text, is)
		}
		var l Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(l.Body, &l.Head); err != nil {
			t.Fatal(err)
		}
		if is && !reflect.DeepEqual(got, l) {
			t.Errorf("%s: read as %+v, want %+v", text, got, l)
		}
	}
	var out strings.Builder
	c := &Conn{Init: Init{Name: "n3"}, out: &out}
	to := Line{Src: Client, Head: Head{MsgID: 17}}
	for typ, say := range map[string]func(){"entered": func() { c.entered(to, 4) },
		"release_ok": func() { c.released(to) }} {
		out.Reset()
		say()
		byHand := out.String()
		out.Reset()
		var more map[string]any
		if typ == "entered" {
			more = map[string]any{"fence": 4}
		}
		c.Answer(to, typ, more)
		var got, want any
		if json.Unmarshal([]byte(byHand), &got) != nil || json.Unmarshal([]byte(out.String()), &want) != nil ||
			!reflect.DeepEqual(got, want) || !strings.HasSuffix(byHand, "}\n") {
			t.Errorf("written by hand %q, want %q", byHand, out.String())
		}
	}
}
