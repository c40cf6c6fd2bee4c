package bare

import "testing"

// The names of the bare loop are as short as can be, or overhead would not show what longer ones cost.
func TestNamesAreTheirNumbers(t *testing.T) {
	for node, want := range []string{"0", "1", "2"} {
		if got := subject(uint32(node)); got != want {
			t.Errorf("messages to node %d carry %q, not %q", node, got, want)
		}
	}
}
