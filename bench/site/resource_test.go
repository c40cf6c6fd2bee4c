//go:build linux

package site

import (
	"path/filepath"
	"testing"

	"turnstile/nodes/host"
)

// A dead node is taken out of the register of the resource that it held. Only the units that it was about to
// change there are in doubt.
func TestTheDeadAreTakenOutOfEachResource(t *testing.T) {
	const resources, nodes, dead = 3, 4, 1
	path := filepath.Join(t.TempDir(), "resource")
	if err := host.CreateResource(path, resources, nodes); err != nil {
		t.Fatal(err)
	}
	mapped, err := host.OpenResource(path, resources, nodes)
	if err != nil {
		t.Fatal(err)
	}
	file := sharedFile{mapped, resources}
	for held := range resources {
		mapped.Of(held).Taken.Add(1)
		mapped.Share(held, dead).Within(1)
		if d, err := file.TakeOut(t.Context(), dead, 0); d.Units != 0 || err != nil {
			t.Errorf("inside resource %d: %+v is in doubt (%v)", held, d, err)
		}
		if taken := mapped.Of(held).Taken.Load(); taken != 0 {
			t.Errorf("the register of resource %d counts %d", held, taken)
		}
		mapped.Share(held, dead).Entering(1)
		if d, err := file.TakeOut(t.Context(), dead, 0); d != (Doubt{held, 1}) || err != nil {
			t.Errorf("entering resource %d: %+v is in doubt (%v)", held, d, err)
		}
	}
}
