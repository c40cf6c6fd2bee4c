package history

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Texts stay with their messages, however often the trace has wrapped around. They are shortened between two
// characters.
func TestTextsStayWithTheirMessages(t *testing.T) {
	const size = 8
	long := strings.Repeat("é", 150)
	for _, count := range []int{0, 1, size, 5*size + 3} {
		path := filepath.Join(t.TempDir(), "0.log")
		l := must(Create(path, Options{Nodes: 1, TraceLength: size, Texts: true}))(t)
		want := &wholeLog{}
		for i := range count {
			says := Text{fmt.Sprint(i), fmt.Sprintf(`{"i":%d}`, i)}
			if i%5 == 3 {
				says = Text{"", long}
			}
			l.TraceText(messageRecord(0, i), says)
			says.Body = Shortened(says.Body)
			want.Trace, want.Texts = append(want.Trace, messageRecord(0, i)), append(want.Texts, says)
		}
		l.Last(long)
		if err := l.Append(event(0, 1)); err != nil {
			t.Fatal(err)
		}
		got := readLog(t, path)
		from := max(0, count-(size-1))
		if !cmp.Equal(want.Texts[from:], got.Texts) && count > 0 || !cmp.Equal(want.Trace[from:], got.Trace) &&
			count > 0 || len(got.Events) != 1 || got.Last != strings.Repeat("é", 100)+"..." {
			t.Errorf("%d messages: %+v", count, got.NodeLog)
		}
		l.Close()
	}
}
