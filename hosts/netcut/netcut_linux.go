package netcut

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// Check returns an error if this process cannot cut the network of its host, with advice. It creates a table
// with a rule for an unused port, and deletes it.
func Check() error {
	t := Table{fmt.Sprintf("turnstile-check-%d", os.Getpid())}
	err := t.Cut("check", []uint16{0})
	if err == nil {
		err = t.Clear()
	}
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return errors.New("this process may not drop packets: it needs the capability NET_ADMIN in its network " +
			"namespace; run it as root there, in a container with cap_add: [NET_ADMIN] beside that")
	case errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.EAFNOSUPPORT),
		errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("this kernel cannot drop packets (%w): it needs nf_tables", err)
	}
	return err
}

// Namespace returns the network namespace of this process, unique over all machines. Two processes in
// the same namespace share a network, and no cut separates them.
func Namespace() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("naming the network namespace: %w", err)
	}
	of, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		return "", fmt.Errorf("naming the network namespace: %w", err)
	}
	return strings.TrimSpace(string(boot)) + " " + of, nil
}

// A direction is incoming or outgoing: the hook that drops packets, and the interface that it checks.
type direction struct {
	name   string
	hook   *nftables.ChainHook
	device expr.MetaKey
}

var directions = []direction{
	{"in-", nftables.ChainHookInput, expr.MetaKeyIIFTYPE},
	{"out-", nftables.ChainHookOutput, expr.MetaKeyOIFTYPE},
}

// Cut makes the kernel drop all TCP packets from and to other hosts whose source or destination is one of the
// ports. The id identifies the cut for Heal, and must not be in use.
func (t Table) Cut(id string, ports []uint16) error {
	if err := checkCut(id, ports); err != nil {
		return err
	}
	c, err := nftables.New()
	if err != nil {
		return t.failed("cutting", err)
	}
	chains, _, err := t.chains(c)
	if err != nil {
		return t.failed("cutting", err)
	}
	first := directions[0].name + id
	if slices.ContainsFunc(chains, func(at *nftables.Chain) bool { return at.Name == first }) {
		return fmt.Errorf("there is a cut %s already: heal it first", id)
	}
	table := c.AddTable(t.table())
	set := &nftables.Set{Table: table, Name: "ports-" + id, KeyType: nftables.TypeInetService}
	var elements []nftables.SetElement
	for _, port := range slices.Compact(slices.Sorted(slices.Values(ports))) {
		elements = append(elements, nftables.SetElement{Key: binaryutil.BigEndian.PutUint16(port)})
	}
	if err := c.AddSet(set, elements); err != nil {
		return t.failed("cutting", err)
	}
	for _, d := range directions {
		chain := c.AddChain(&nftables.Chain{Name: d.name + id, Table: table, Type: nftables.ChainTypeFilter,
			Hooknum: d.hook, Priority: nftables.ChainPriorityFilter})
		for _, offset := range []uint32{sourcePort, destinationPort} {
			c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: d.drop(set, offset)})
		}
	}
	return t.failed("cutting", c.Flush())
}

// Offsets of the ports in the header of TCP, in bytes.
const (
	sourcePort      = 0
	destinationPort = 2
)

// drop returns a rule that drops TCP packets from or to other hosts, if the port at an offset is in a set.
func (d *direction) drop(set *nftables.Set, offset uint32) []expr.Any {
	loopback := make([]byte, 2) // the link type, in native byte order
	binary.NativeEndian.PutUint16(loopback, unix.ARPHRD_LOOPBACK)
	return []expr.Any{
		&expr.Meta{Key: d.device, Register: 1},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: loopback},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: offset, Len: 2},
		&expr.Lookup{SourceRegister: 1, SetName: set.Name, SetID: set.ID},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}

// Heal ends the cut with an id. It does nothing if there is no such cut.
func (t Table) Heal(id string) error {
	c, err := nftables.New()
	if err != nil {
		return t.failed("healing", err)
	}
	chains, there, err := t.chains(c)
	if err != nil || !there {
		return t.failed("healing", err)
	}
	of := func(chain *nftables.Chain) bool {
		return slices.ContainsFunc(directions, func(d direction) bool { return chain.Name == d.name+id })
	}
	switch left := slices.DeleteFunc(slices.Clone(chains), of); {
	case len(left) == 0:
		c.DelTable(t.table())
	case len(left) == len(chains):
		return nil
	default:
		for _, chain := range slices.DeleteFunc(chains, func(at *nftables.Chain) bool { return !of(at) }) {
			c.DelChain(chain)
		}
		c.DelSet(&nftables.Set{Table: t.table(), Name: "ports-" + id})
	}
	return t.failed("healing", c.Flush())
}

// Clear ends all cuts of the table, also cuts of an earlier process, and deletes the table. It does nothing
// if the table does not exist.
func (t Table) Clear() error {
	c, err := nftables.New()
	if err != nil {
		return t.failed("clearing", err)
	}
	if _, there, err := t.chains(c); err != nil || !there {
		return t.failed("clearing", err)
	}
	c.DelTable(t.table())
	return t.failed("clearing", c.Flush())
}

// table returns the table in nftables.
func (t Table) table() *nftables.Table {
	return &nftables.Table{Name: t.name, Family: nftables.TableFamilyINet}
}

// chains returns the chains of the table, and whether the table exists.
func (t Table) chains(c *nftables.Conn) (all []*nftables.Chain, there bool, err error) {
	tables, err := c.ListTablesOfFamily(nftables.TableFamilyINet)
	if err != nil {
		return nil, false, err
	}
	if !slices.ContainsFunc(tables, func(at *nftables.Table) bool { return at.Name == t.name }) {
		return nil, false, nil
	}
	chains, err := c.ListChainsOfTableFamily(nftables.TableFamilyINet)
	for _, chain := range chains {
		if chain.Table.Name == t.name {
			all = append(all, chain)
		}
	}
	return all, true, err
}

// failed wraps an error of the kernel; nil stays nil.
func (t Table) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the network by the table %s of nftables: %w", doing, t.name, err)
}
