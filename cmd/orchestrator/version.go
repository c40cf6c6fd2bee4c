package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"turnstile/internal/broker"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of this program and of what it is made with",
		Example: "  orchestrator version",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprint(a.stdout, versionText())
			return nil
		},
	}
}

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
	modified := ""
	for _, s := range build.Settings {
		switch {
		case s.Key == "vcs.revision":
			v["revision"] = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	if v["revision"] != "" {
		v["revision"] += modified
	}
	return v
}
