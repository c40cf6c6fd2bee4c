package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"turnstile/nodes/mutex"
)

// TestSoundAlgorithms runs every algorithm that is not known to be broken, in real processes, and wants it
// to be valid and to cost what was published.
func TestSoundAlgorithms(t *testing.T) {
	t.Parallel()
	for _, row := range mutex.Table {
		for _, n := range []int{1, 2, 5, 9} {
			if row.Broken == "" {
				t.Run(fmt.Sprintf("%s/%d", row.Name, n), func(t *testing.T) { wantSound(t, row.Name, n) })
			}
		}
	}
}

func wantSound(t *testing.T, algorithm string, n int) {
	dir := t.TempDir()
	cmd := exec.Command(filepath.Join(programs, "orchestrator"), "bench", "--algo", algorithm,
		"-n", fmt.Sprint(n), "--entries", "60", "--json", "--results", dir)
	cmd.Env, cmd.Dir = cleanEnv(), dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var d struct {
		Verdict string `json:"verdict"`
		Trials  []struct {
			Row struct {
				Entries  float64  `json:"entries"`
				PerEntry *float64 `json:"messages_per_entry"`
				Min      *float64 `json:"published_min"`
				Max      *float64 `json:"published_max"`
			} `json:"row"`
		} `json:"trials"`
	}
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if d.Verdict != "valid" || len(d.Trials) != 1 {
		t.Fatalf("not valid:\n%s", out)
	}
	r := d.Trials[0].Row
	if r.Entries != 60 {
		t.Errorf("%v entries, want 60", r.Entries)
	}
	switch {
	case r.PerEntry == nil || r.Min == nil:
		t.Errorf("no messages per entry in:\n%s", out)
	case *r.PerEntry < *r.Min-1e-9 || r.Max != nil && *r.PerEntry > *r.Max+1e-9:
		t.Errorf("%v messages per entry, published: %v to %v", *r.PerEntry, *r.Min, r.Max)
	}
}
