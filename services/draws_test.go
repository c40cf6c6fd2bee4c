package main

import (
	"strings"
	"testing"
)

// What hunts draw are values of the options, and more than the default of each.
func TestDrawsAreValues(t *testing.T) {
	for _, s := range all {
		for _, d := range s.Entry().Draws {
			others := 0
			for _, value := range d.Values {
				_, err := s.Parse([]string{d.Name + "=" + value})
				if err != nil && strings.HasPrefix(err.Error(), "option ") { // not that it needs another option
					t.Errorf("%s: %v", s.Name, err)
				}
				if value != d.Default {
					others++
				}
			}
			if others == 0 && d.Name != "session" {
				t.Errorf("%s: %s is drawn, but never another than %s", s.Name, d.Name, d.Default)
			}
		}
	}
}
