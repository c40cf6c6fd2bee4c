package service

import (
	"slices"
	"strings"
	"testing"
)

// An endpoint has as many servers as options say, unless these talk to each other.
func TestEndpointsAreTaken(t *testing.T) {
	of := func(ports int, onlyHere string) *Service {
		return &Service{Name: "x", Servers: &Servers{Members: []int{3, 5}, Ports: ports, OnlyHere: onlyHere}}
	}
	for name, x := range map[string]struct {
		s        *Service
		endpoint string
		says     string
	}{
		"none":             {&Service{Name: "x"}, "a:1", "x has no servers"},
		"a file":           {of(1, "it is a file"), "a:1", "takes no --endpoint: it is a file"},
		"too few":          {of(1, ""), "a:1", "names 1 server, and x has 3 with these options"},
		"as many":          {of(1, ""), "a:1,b:1,c:1", ""},
		"one of a cluster": {of(2, ""), "a:1", ""},
	} {
		err := x.s.takes(x.endpoint, Values{Members: "3"})
		if (err == nil) != (x.says == "") || err != nil && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is said of an option has its values, and says what on does.
func TestUsage(t *testing.T) {
	s := &Service{Options: []Option{{Name: "ttl", Default: "2s", Usage: "of the key"},
		Switch("fence", "off", "a counter"),
		{Name: "release", Default: "lua", Values: []string{"lua", "del"}, Usage: "by a script"}}}
	want := []string{"ttl=2s: of the key", "fence=on|off (default off): on: a counter",
		"release=lua|del (default lua): by a script"}
	if got := s.Usage(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
