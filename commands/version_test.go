package commands

import "testing"

// Versions of two commits differ, and so do those of a commit and of a tree that was changed since.
func TestVersions(t *testing.T) {
	const revision = "4001b7e8ae30e2c4480a6d6694179ac2117b9350"
	defer func(was string) { release = was }(release)
	for _, test := range []struct {
		release, revision string
		modified          bool
		want              string
	}{
		{"", revision, false, "devel-4001b7e8ae30"},
		{"", revision, true, "devel-4001b7e8ae30+dirty"},
		{"", "", false, ""},
		{"0.1.0", revision, false, "0.1.0+4001b7e8ae30"},
		{"0.1.0", revision, true, "0.1.0+4001b7e8ae30.dirty"},
		{"0.1.0", "", false, "0.1.0"},
	} {
		release = test.release
		if got := versionOf(test.revision, test.modified); got != test.want {
			t.Errorf("the version of %v is %q", test, got)
		}
	}
}
