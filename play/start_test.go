package play

import (
	"strings"
	"testing"
)

// A page gets a start, also in place of another, and nothing in it ends its element.
func TestWithStart(t *testing.T) {
	page := `<p></p><script type="application/json" id="start"></script><script>go()</script>`
	for range 2 {
		got, err := WithStart([]byte(page), Start{Schedule: "n 2 # </script>\n"})
		want := `<p></p><script type="application/json" id="start">` +
			`{"schedule":"n 2 # \u003c/script\u003e\n"}</script><script>go()</script>`
		if err != nil || string(got) != want {
			t.Errorf("%v:\n%s\nand not\n%s", err, got, want)
		}
		page = string(got)
	}
	if _, err := WithStart([]byte("<p>"), Start{}); err == nil || !strings.Contains(err.Error(), "make play") {
		t.Errorf("a page without a place for a start: %v", err)
	}
}
