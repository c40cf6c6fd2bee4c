package commands

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/nats-io/nats.go"

	"turnstile/internal/broker"
)

// versionText says what the program is made of, a line for each part.
func versionText() (text string) {
	v := versions()
	for _, name := range []string{"turnstile", "revision", "go", "nats-server", "nats.go"} {
		if v[name] != "" {
			text += fmt.Sprintf("%-12s %s\n", name, v[name])
		}
	}
	return text
}

// The commit that the program was built from, and "true" if the tree had been changed since. `make build`
// sets them, as the stamp of Go lacks in work trees of git, and makes the build fail in a tree of
// another user.
var commit, changed string

// The version of a release. `make release` sets it, and no other build does.
var release string

// versions returns what the program is made of, as run.yaml stores it.
func versions() map[string]string {
	v := map[string]string{
		"turnstile":   "unknown",
		"go":          runtime.Version(),
		"nats-server": broker.Version,
		"nats.go":     nats.Version,
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v["turnstile"] = cmp.Or(build.Main.Version, v["turnstile"])
	revision, modified := commit, changed
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			modified = s.Value
		}
	}
	if v["turnstile"] == "(devel)" {
		v["turnstile"] = cmp.Or(versionOf(revision, modified == "true"), v["turnstile"])
	}
	if revision != "" {
		v["revision"] = revision
		if modified == "true" {
			v["revision"] += ", modified"
		}
	}
	return v
}

// versionOf returns the version of a program that Go has stamped with none: 0.1.0+4001b7e8ae30 of a release
// and devel-4001b7e8ae30 of any other build, so that runs of several commits differ in the column version.
func versionOf(revision string, modified bool) string {
	short := revision[:min(shortRevision, len(revision))]
	switch {
	case revision == "":
		return release
	case release != "" && modified:
		return release + "+" + short + ".dirty" // as semantic versions write it
	case release != "":
		return release + "+" + short
	case modified:
		return "devel-" + short + "+dirty" // as versions that Go has stamped
	}
	return "devel-" + short
}

// shortRevision is how many digits of a commit are in a version.
const shortRevision = 12

// warnOfNoCommit says, in one line, that the runs of this program cannot name the commit that made them.
func (a *app) warnOfNoCommit() {
	if v := versions(); v["revision"] == "" {
		fmt.Fprintf(a.stderr, "orchestrator: warning: this program, %s, does not know its commit, so nothing will "+
			"tell its runs from those of another: build it with make build, in a clone\n", v["turnstile"])
	}
}
