// Package netcut has the kernel of a host drop the packets of some TCP ports that come from other hosts or go
// to them, without a word to either end, and has them pass again.
//
// The rules of a [Table] are in a table of nftables of its own, in the network namespace of the process.
// No other table is read or changed. They take the capability NET_ADMIN: [Check] says whether this process
// has it. What a process of one host says to another one there passes always, also if it says it to an
// address of the host that others use.
//
// TCP sends again what is dropped, each time after twice the wait. So after a long cut, connections that
// have outlived it go on some time after it is healed, which is no longer than the cut was.
package netcut

import (
	"errors"
	"fmt"
	"regexp"
)

// A Table has the cuts of one agent, each by its id.
type Table struct{ name string }

// names are those of agents and cuts.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)

// For returns the table of an agent, by its name: letters, digits and -, at most 64. Two agents in one
// network namespace have different names.
func For(agent string) (Table, error) {
	if !names.MatchString(agent) {
		return Table{}, fmt.Errorf("%q names no table: a name has letters, digits and -, at most 64", agent)
	}
	return Table{"turnstile-" + agent}, nil
}

// checkCut says what is wrong with the id and the ports of a cut, if anything is.
func checkCut(id string, ports []uint16) error {
	switch {
	case !names.MatchString(id):
		return fmt.Errorf("%q is no id of a cut: it has letters, digits and -, at most 64", id)
	case len(ports) == 0:
		return errors.New("a cut of no ports: name those of brokers and routes")
	}
	return nil
}
