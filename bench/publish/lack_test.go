package publish

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/results"
)

// A run whose algorithm, detector or option this Turnstile lacks is no difference, if the digests agree; the
// commit that made it is named.
func TestARunOfALaterAlgorithmIsNoDifference(t *testing.T) {
	for was, is := range map[string]string{
		"\n  algorithm: central\n": "\n  algorithm: later\n",
		"\n    options:\n":         "\n    options:\n      later: 1\n",
	} {
		folder := filepath.Join(t.TempDir(), "lan")
		made(t, stored(t), Options{To: folder, Histories: true})
		file := results.PublishedRuns + "/run-0/" + results.RunFile
		text := read(t, folder, file)
		changed := bytes.Replace(text[:bytes.LastIndex(text, []byte("checksum: "))], []byte(was), []byte(is), 1)
		if write(t, results.Sealed(changed), folder, file); !bytes.Contains(changed, []byte(is)) {
			t.Fatalf("%s has no line %q", text, was)
		}
		resum(t, folder, file)
		a, err := Check(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Differences) > 0 || len(a.Runs) != 2 || len(a.Judgeable) != 1 || len(a.Lacking) != 1 ||
			!strings.Contains(a.Lacking[0].Why, "later") ||
			!strings.Contains(a.Lacking[0].Why, "commit abc, which made the run, has it") {
			t.Errorf("%q: %+v", is, a)
		}
	}
}
