package foreign

import (
	"reflect"
	"testing"
	"time"
)

// plainLines are lines, and whether quick reads them: some only resemble the lines that it reads.
var plainLines = map[string]bool{
	`{"src":"n0","dest":"c0","body":{"type":"entered","in_reply_to":7,"fence":0}}`:          true,
	`{"body":{"fence":12,"in_reply_to":7,"type":"entered"},"dest":"c0","src":"n0"}`:         true,
	`{"src":"n0","dest":"c0","body":{"type":"revoked","in_reply_to":7,"stays":true}}`:       true,
	`{"src":"n0","dest":"c0","body":{"type":"release_ok"}}`:                                 true,
	`{"src":"n1","src":"n0","dest":"c0","body":{"type":"a"},"body":{"type":"b"}}`:           true,
	`{"src":"n0","dest":"c0","body":{"stays":true,"type":"a","stays":false,"type":"b"}}`:    true,
	`{"src":"n0","dest":"c0","body":{"type":"entered","in_reply_to":07}}`:                   false,
	`{"src":"n0","dest":"c0","body":{"type":"entered","in_reply_to":18446744073709551616}}`: false,
	`{"src":"n0","dest":"c0","body":{"type":"entered","in_reply_to":7.5}}`:                  false,
	`{"src":"n0","dest":"c0","body":{"type":"entered","in_reply_to":-7}}`:                   false,
	`{"src":"n0","dest":"c0","body":{"type":"entered","in_reply_to":null}}`:                 false,
	`{"src":"n0","dest":"c0","body":{"type":"entered","Fence":3}}`:                          false,
	`{"src":"n0","dest":"c0","body":{"type":"ent\u0065red"}}`:                               false,
	`{"src":"n0","dest":"c0","body":{"type":"error","code":11,"text":"held"}}`:              false,
	`{"src":"n0","dest":"c0","body":{"type":""}}`:                                           false,
	`{"src":"n0","dest":"c0","body":{}}`:                                                    false,
	`{"src":"n0","dest":"c0","body":{"type":"x"}} `:                                         false,
	`{"src":"n0","dest":"c0","body":{"type":"x"}}}`:                                         false,
	`{"src":"n0","dest":"c0","body":{"type":"x"`:                                            false,
	`{"src":"n0","dest":"n1","body":{"type":"x"}}`:                                          false,
	`{"src":"n1","dest":"c0","body":{"type":"x"}}`:                                          false,
	`{"src":"n0","dest":"c0","id":1,"body":{"type":"x"}}`:                                   false,
	`{"src":"n0","dest":"c0"}`:                                                              false,
	`{"src":"n0","dest":"c0","body":{"type":"revoked","stays":truest}}`:                     false,
	``: false,
}

// What quick reads is what slow reads, so a line means the same however it is written.
func TestQuickReadsAsSlow(t *testing.T) {
	for line, want := range plainLines {
		if got := agrees(t, line); got != want {
			t.Errorf("quick reads %s: %v, want %v", line, got, want)
		}
	}
}

// agrees reports whether quick reads a line, and fails the test if slow reads it otherwise.
func agrees(t *testing.T, line string) bool {
	t.Helper()
	got, is := quick([]byte(line), 0)
	if !is {
		return false
	}
	want, err := slow([]byte(line), 0)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: quick reads %+v, and slow %+v, %v", line, got, want, err)
	}
	return true
}

// A program reads the clock of its node if it wants an answer.
func TestWhoReadsTheClock(t *testing.T) {
	for body, reads := range map[string]bool{`{"type":"read","msg_id":7}`: true, `{"type":"read"}`: false,
		`{"type":"set","msg_id":7}`: false} {
		said, err := Read([]byte(`{"src":"n1","dest":"timer","body":`+body+`}`), 1)
		if err != nil || said.ReadsClock() != reads {
			t.Errorf("%s reads the clock: %v, %v", body, !reads, err)
		}
		const want = `{"src":"timer","dest":"n1","body":{"type":"read_ok","in_reply_to":7,"ms":1500.250}}`
		if got := string(said.Time(1, time.UnixMicro(1_500_250))); reads && got != want+"\n" {
			t.Errorf("the answer is %s", got)
		}
	}
}

func FuzzQuick(f *testing.F) {
	for line := range plainLines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) { agrees(t, line) })
}
