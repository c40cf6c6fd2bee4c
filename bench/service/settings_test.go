package service

import (
	"slices"
	"testing"
)

// A list says of each setting whose it is, what its default is, if there is one, and why it is another.
func TestSettingsAreSaid(t *testing.T) {
	heap := Setting{Name: "heap 64 MB", Default: "1000 MB", Why: "it is enough"}
	s := Service{Servers: &Servers{Settings: []Setting{heap}},
		Settings: []Setting{{Name: "retry 1ms", Why: "some time"}}}
	if got := s.SettingLines(); !slices.Equal(got, []string{
		"server: heap 64 MB, by default 1000 MB: it is enough",
		"client: retry 1ms, which the documentation leaves open: some time"}) {
		t.Errorf("%q", got)
	}
	if got := (&Service{}).SettingLines(); got != nil {
		t.Errorf("of none: %q", got)
	}
}
