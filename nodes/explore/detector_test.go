package explore

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/detector"
	"turnstile/nodes/mutex"
	"turnstile/nodes/row"
)

// An exploration beside a detector would have no end, and would take no state for a deadlock.
func TestDetectorsAreRefused(t *testing.T) {
	spec, err := mutex.Find("maekawa-textbook")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range detector.Table {
		in, err := detector.Parse(found.Name, 2, nodes.Delays{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(Options{Spec: spec, Config: nodes.Config{N: 2}, Entries: 1, Beside: []row.Instance{in}})
		if err == nil || !strings.Contains(err.Error(), found.Name+" sends without end") {
			t.Errorf("%s: %v", found.Name, err)
		}
	}
}
