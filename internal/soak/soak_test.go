package soak

import (
	"flag"
	"testing"
)

func TestPick(t *testing.T) {
	short := flag.Lookup("test.short")
	was := short.Value.String()
	defer short.Value.Set(was)
	for _, c := range []struct{ short, soak, want string }{
		{"false", "", "usual"}, {"true", "", "short"}, {"false", "1", "long"}, {"true", "1", "short"},
	} {
		short.Value.Set(c.short)
		t.Setenv("SOAK", c.soak)
		if got := Pick("short", "usual", "long"); got != c.want {
			t.Errorf("-short=%s SOAK=%s: %s, want %s", c.short, c.soak, got, c.want)
		}
	}
}
