package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"turnstile/nodes/detector"
)

// The page on running names each failure detector and, somewhere, each of its options with what it is if it
// is not given.
func TestDetectorsAreDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range detector.Table {
		words := []string{"\n| `" + row.Name + "` |"}
		for _, o := range row.Options {
			words = append(words, fmt.Sprintf("`%s` (%s)", o.Name, o.Default))
		}
		for _, word := range words {
			if !strings.Contains(string(page), word) {
				t.Errorf("docs/running.md does not say %q of %s", word, row.Name)
			}
		}
	}
}
