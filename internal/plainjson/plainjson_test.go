package plainjson

import (
	"encoding/json"
	"strconv"
	"testing"
)

// Every text that is read as plain is JSON with the same value.
func TestScan(t *testing.T) {
	for text, plain := range map[string]bool{
		`{"a":1}`: true, `{"a":0,"b":1}`: true, `{"a":01}`: false, `{}`: false,
		`{"a":123456789012345678}`: true, `{"a":1234567890123456789}`: false, `{"a":}`: false, `{"a"1}`: false,
		`{"a":1,}`: false, `{"a":1`: false, `{"\n":1}`: false, `{"ä":1}`: false,
	} {
		got := map[string]uint64{}
		l := Scan{Text: []byte(text)}
		is := l.Object(func(key string) bool { got[key] = l.Number(); return !l.Failed }) && l.At == len(text)
		want := map[string]uint64{}
		if err := json.Unmarshal([]byte(text), &want); is && (err != nil || got["a"] != want["a"]) {
			t.Errorf("%s: %v, want %v, %v", text, got, want, err)
		}
		if is != plain {
			t.Errorf("%s is plain: %v", text, is)
		}
	}
	for text, want := range map[string]bool{"true": true, "false": true, "tru": false, "": false} {
		l := Scan{Text: []byte(text)}
		if is := l.Truth(); l.Failed == want || want && strconv.FormatBool(is) != text {
			t.Errorf("%q: %v, %v", text, is, l.Failed)
		}
	}
}
