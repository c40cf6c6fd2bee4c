package netcut

import (
	"strings"
	"testing"
)

// Names end up in the tables of the kernel, so what is none is refused before.
func TestNamesAreChecked(t *testing.T) {
	for _, name := range []string{"", "-a", "a b", "..", "a/b", "{", strings.Repeat("a", 65)} {
		if _, err := For(name); err == nil {
			t.Errorf("%q names a table", name)
		}
		if err := checkCut(name, []uint16{1}); err == nil {
			t.Errorf("%q is the id of a cut", name)
		}
	}
	if err := checkCut("a", nil); err == nil || !strings.Contains(err.Error(), "no ports") {
		t.Errorf("a cut of no ports: %v", err)
	}
	if x, err := For("Host-1"); err != nil || x.name != "turnstile-Host-1" {
		t.Errorf("the table is %v, %v", x, err)
	}
}
