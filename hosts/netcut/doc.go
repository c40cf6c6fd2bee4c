// Package netcut makes the kernel of a host silently drop packets of some TCP ports from and to other hosts,
// and pass them again.
//
// The rules of a [Table] are in a separate nftables table, in the network namespace of the process. No other
// table is read or changed. Changing it takes the capability NET_ADMIN: [Check] reports whether this process
// has it. Packets between processes of one host always pass, even if they are sent to the address at which
// other hosts reach this host.
//
// TCP retransmits dropped packets, and doubles the wait each time. So after a long cut, connections that
// survived it resume with a delay, which is no longer than the cut was.
package netcut

import (
	"errors"
	"fmt"

	"turnstile/internal/pattern"
)

// A Table has the cuts of one agent, each with an id.
type Table struct{ name string }

// names are valid names of agents and cuts.
var names = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)

// For returns the table of an agent, by its name: letters, digits and -, at most 64. Two agents in one
// network namespace must have different names.
func For(agent string) (Table, error) {
	if !names().MatchString(agent) {
		return Table{}, fmt.Errorf("%q names no table: a name has letters, digits and -, at most 64", agent)
	}
	return Table{"turnstile-" + agent}, nil
}

// checkCut returns an error if the id or the ports of a cut are invalid.
func checkCut(id string, ports []uint16) error {
	switch {
	case !names().MatchString(id):
		return fmt.Errorf("%q is not an id for a cut: it has letters, digits and -, at most 64", id)
	case len(ports) == 0:
		return errors.New("a cut without ports: name the ports of brokers and routes")
	}
	return nil
}
