package commands

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/nats-io/nats.go"

	"turnstile/internal/broker"
)

// versionText lists the versions of the program and its parts, a line each.
func versionText() (text string) {
	v := versions()
	for _, name := range []string{"turnstile", "revision", "go", "nats-server", "nats.go"} {
		if v[name] != "" {
			text += fmt.Sprintf("%-12s %s\n", name, v[name])
		}
	}
	return text
}

// The commit that the program was built from, and "true" if the tree had changes. `make build` sets them,
// since Go stamps no commit in git worktrees, and fails to build in a tree of another user.
var commit, changed string

// The version of a release. `make release` sets it, and no other build does.
var release string

// versions returns the versions of the program and its parts, as run.yaml stores them.
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
	if path := build.Main.Path; path != ofProject {
		v["turnstile"] = fmt.Sprintf("%s in %s %s", versionIn(build.Deps), path, v["turnstile"])
	}
	if revision != "" {
		v["revision"] = revision
		if modified == "true" {
			v["revision"] += ", modified"
		}
	}
	return v
}

// ofProject is the module of this project. A program of another module, with algorithms of its own, has the
// version and the revision of that module.
var ofProject = strings.TrimSuffix(reflect.TypeFor[app]().PkgPath(), "/commands")

// versionIn returns the version of this project among the modules that a program is built with.
func versionIn(deps []*debug.Module) string {
	for _, m := range deps {
		if m.Path == ofProject {
			return m.Version
		}
	}
	return "unknown"
}

// versionOf returns the version of a program that Go has not stamped: 0.1.0+4001b7e8ae30 for a release, and
// devel-4001b7e8ae30 for another build. Runs of different commits then differ in the column version.
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
		return "devel-" + short + "+dirty" // as Go stamps it
	}
	return "devel-" + short
}

// shortRevision is how many digits of a commit are in a version.
const shortRevision = 12

// warnOfNoCommit warns that the runs of this program will not record its commit.
func (a *app) warnOfNoCommit() {
	if v := versions(); v["revision"] == "" {
		fmt.Fprintf(a.stderr, "orchestrator: warning: this program, %s, does not know its commit, so its runs "+
			"will not show which commit made them: build it from a commit, as make build does in a clone\n",
			v["turnstile"])
	}
}
