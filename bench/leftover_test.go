package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/bench/control"
)

// A run that goes on is never left over, whether by its lock or by its socket; one that was killed is; a
// finished one never is.
func TestLeftoversAreOfNobody(t *testing.T) {
	r := stalledRun(t)
	root, sets := filepath.Dir(filepath.Dir(r.Folder.Path)), []string{"set"}
	want := func(when string, count int, says string) []Leftover {
		t.Helper()
		left, spared := Leftovers(root, sets)
		if len(left) != count || !strings.Contains(spared[r.Folder.Ref()], says) || says == "" && len(spared) > 0 {
			t.Errorf("%s: left are %v, spared %v", when, left, spared)
		}
		return left
	}
	want("finished", 0, "")
	r.Record.Status = statusRunning
	if err := r.Folder.WriteYAML(r.Record); err != nil {
		t.Fatal(err)
	}
	release, err := r.Folder.Hold()
	if err != nil {
		t.Fatal(err)
	}
	want("held", 0, "it goes on")
	if err := release(); err != nil {
		t.Fatal(err)
	}
	server, err := control.NewServer(r.Folder.Path, control.Reply{})
	if err != nil {
		t.Fatal(err)
	}
	want("its socket is served", 0, "it goes on")
	if err := server.End(control.Reply{}); err != nil {
		t.Fatal(err)
	}
	left := want("killed", 1, "")
	if release, err = r.Folder.Hold(); err != nil {
		t.Fatal(err)
	}
	if err := left[0].Remove(root); err == nil {
		t.Error("a run is removed that goes on by now")
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := left[0].Remove(root); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.Folder.Path); err == nil {
		t.Error("it is still there")
	}
}
