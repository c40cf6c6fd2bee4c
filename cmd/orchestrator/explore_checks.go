package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"turnstile/internal/suggest"
	"turnstile/nodes/catalog"
	"turnstile/nodes/replay"
)

// progressCheck names all that may keep somebody from entering.
const progressCheck = "progress"

// checkNames are the checks of an exploration, as a flag.
type checkNames []string

// known lists what the flag takes.
func (*checkNames) known() []string { return append(replay.Checks(), progressCheck) }

// String lists the checks.
func (c *checkNames) String() string { return strings.Join(*c, ",") }

// Set takes one check, or several with commas between them.
func (c *checkNames) Set(text string) error {
	var all []string
	for name := range strings.SplitSeq(text, ",") {
		switch name = strings.TrimSpace(name); {
		case name == progressCheck:
			all = append(all, replay.CheckDeadlock, replay.CheckStarvation)
		case slices.Contains(c.known(), name):
			all = append(all, name)
		default:
			near := suggest.Nearest(name, c.known())
			if near != "" {
				near = fmt.Sprintf("did you mean %q? ", near)
			}
			return fmt.Errorf("there is no check %q: %sthe checks are %s", name, near, strings.Join(c.known(), ", "))
		}
	}
	*c = all
	return nil
}

// rowsWith returns the algorithms that something holds of.
func rowsWith(holds func(*spec) bool) (rows []*spec) {
	for _, row := range catalog.All() {
		if holds(row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// Type names the kind of value, for --help.
func (c *checkNames) Type() string { return "checks" }

var _ pflag.Value = (*checkNames)(nil)
