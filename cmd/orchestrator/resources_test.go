package main

import (
	"io"
	"strings"
	"testing"
)

// --resources takes a number or names, which the run says, its table of resources has, and a rerun knows.
func TestResourcesHaveNames(t *testing.T) {
	root := t.TempDir()
	call := func(args string) string {
		var out strings.Builder
		run(t.Context(), append(strings.Fields(args), "--results", root), &out, io.Discard)
		return out.String()
	}
	for _, args := range []string{
		"simulate --algo ricart -n 4 --resources printer,plotter --entries 40 --seed 1", "rerun latest",
	} {
		for _, want := range []string{", 2 resources (printer, plotter), ", "\n  printer   ",
			"\n  plotter   "} {
			if says := call(args); !strings.Contains(says, want) {
				t.Errorf("%s does not say %q:\n%s", args, want, says)
			}
		}
	}
	for value, want := range map[string]string{
		"printer,printer": "--resources: two resources are called printer: name one of them otherwise",
		"1.5":             "--resources: write how many, or names with commas between, as in printer,plotter",
		"a,,b":            "--resources: write how many, or names",
		"0":               "--resources: 0 would leave nothing to ask for",
	} {
		var says strings.Builder
		status := run(t.Context(), []string{"simulate", "--entries", "9", "--resources", value}, io.Discard, &says)
		if status != usage || !strings.Contains(says.String(), want) {
			t.Errorf("--resources %s: status %d, %s", value, status, &says)
		}
	}
}
