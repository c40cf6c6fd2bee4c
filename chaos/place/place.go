// Package place assigns the nodes of a run to its hosts.
package place

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/english"
	"turnstile/internal/pattern"
	"turnstile/nodes"
)

// The words that Parse reads instead of lists of nodes.
const (
	Turns  = "turns"  // node i is on host i modulo the number of hosts
	Blocks = "blocks" // each host has consecutive nodes, about equally many
)

// Forms describes the texts that Parse reads.
const Forms = Turns + ", " + Blocks + " or a list, as in 0-3@a,4-7@b"

// A Placement says on which host each node is, servers included. Hosts are numbered from 0. The zero value
// has no hosts: the run is on one machine.
type Placement struct {
	hostOf []int    // number of the host of each node
	names  []string // name of each host; empty: any host will do
}

// Parse reads the placement of total nodes, servers included, on hosts: turns, the default, blocks, or lists
// of nodes with their host, as in 0-3@a,4-7@b. A host is a number or a name; named hosts take the lowest free
// numbers, in the order of the text. Every node must be on one host, and every host must have a node. With 0
// hosts it returns the zero Placement.
func Parse(text string, total, hosts int) (p Placement, err error) {
	switch {
	case hosts == 0 && text != "":
		return p, fmt.Errorf("%q says where nodes are, and the run has no hosts: add --hosts, as in --hosts 2",
			text)
	case hosts == 0:
		return p, nil
	case hosts < 0:
		return p, fmt.Errorf("%d hosts: a run has 1 or more", hosts)
	case hosts > total:
		return p, fmt.Errorf("%s, and the run has %s: a host without a node would do nothing: take %d at most",
			english.Count(hosts, "host", "hosts"), english.Count(total, "node", "nodes"), total)
	}
	p = Placement{hostOf: make([]int, total), names: make([]string, hosts)}
	switch text {
	case "", Turns:
		for i := range p.hostOf {
			p.hostOf[i] = i % hosts
		}
	case Blocks:
		for i := range p.hostOf {
			p.hostOf[i] = i * hosts / total
		}
	default:
		if err := p.read(text); err != nil {
			return Placement{}, err
		}
	}
	return p, nil
}

// IsName reports whether text can name a host: it becomes part of subjects and of file names.
func IsName(text string) bool { return name().MatchString(text) }

var name = pattern.Of(`^[a-z0-9][a-z0-9-]{0,30}$`)

// A listed is one list of nodes with their host.
type listed struct {
	nodes nodes.Group
	host  string
}

// split divides the text of a placement into its lists.
func split(text string) (all []listed, err error) {
	group := ""
	for item := range strings.SplitSeq(text, ",") {
		item, host, ends := strings.Cut(strings.TrimSpace(item), "@")
		if group != "" {
			group += ","
		}
		if group += item; !ends {
			continue
		}
		if !name().MatchString(host) {
			return nil, fmt.Errorf("%q: %q is not a host: a name has at most 31 small letters, digits and -", text,
				host)
		}
		list, err := nodes.ParseGroup(group)
		if err != nil {
			return nil, fmt.Errorf("%q: before @%s, %w", text, host, err)
		}
		all, group = append(all, listed{list, host}), ""
	}
	switch {
	case all == nil:
		return nil, fmt.Errorf("%q is not a placement: write %s", text, Forms)
	case group != "":
		return nil, fmt.Errorf("%q: it does not say where %s is: end it with a host, as in %s@%s", text, group,
			group, all[0].host)
	}
	return all, nil
}

// number returns the number of each host in the lists, and notes the name of each host that has one.
func (p *Placement) number(lists []listed) (map[string]int, error) {
	numbers, taken := map[string]int{}, make([]bool, len(p.names))
	for _, l := range lists {
		i, err := strconv.Atoi(l.host)
		switch {
		case err != nil:
			continue
		case i >= len(p.names):
			return nil, fmt.Errorf("there is no host %d: %w", i, p.which())
		}
		numbers[l.host], taken[i] = i, true
	}
	for _, l := range lists {
		if _, known := numbers[l.host]; known {
			continue
		}
		free := slices.Index(taken, false)
		if free < 0 {
			return nil, fmt.Errorf("it names more hosts than the run has, which is %d: take more --hosts",
				len(p.names))
		}
		numbers[l.host], taken[free], p.names[free] = free, true, l.host
	}
	if free := slices.Index(taken, false); free >= 0 {
		return nil, fmt.Errorf("no node is on host %d, and it would do nothing: name as many hosts as the run "+
			"has, which is %d", free, len(p.names))
	}
	return numbers, nil
}

// read reads a placement in lists of nodes with their hosts.
func (p *Placement) read(text string) error {
	lists, err := split(text)
	if err != nil {
		return err
	}
	numbers, err := p.number(lists)
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	for i := range p.hostOf {
		p.hostOf[i] = -1
	}
	for _, l := range lists {
		if err := l.nodes.Check(len(p.hostOf)); err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
		for _, id := range l.nodes {
			if p.hostOf[id] >= 0 {
				return fmt.Errorf("%q: node %d is placed twice: name it once", text, id)
			}
			p.hostOf[id] = numbers[l.host]
		}
	}
	if i := slices.Index(p.hostOf, -1); i >= 0 {
		return fmt.Errorf("%q: node %d is on no host: say on which, as in %d@%s", text, i, i, lists[0].host)
	}
	return nil
}

// None reports whether there are no hosts: the run is on one machine.
func (p *Placement) None() bool { return len(p.names) == 0 }

// Hosts returns how many hosts there are; 0: the run is on one machine.
func (p *Placement) Hosts() int { return len(p.names) }

// Total returns how many nodes are placed; 0 if there are no hosts.
func (p *Placement) Total() int { return len(p.hostOf) }

// HostOf returns the number of the host of a node; 0 if there are no hosts.
func (p *Placement) HostOf(id nodes.ID) int {
	if p.None() {
		return 0
	}
	return p.hostOf[id]
}

// Nodes returns the nodes on a host, in order.
func (p *Placement) Nodes(host int) (all nodes.Group) {
	for id, of := range p.hostOf {
		if of == host {
			all = append(all, nodes.ID(id))
		}
	}
	return all
}

// Check returns an error about the first of some hosts that the run does not have, or nil.
func (p *Placement) Check(hosts nodes.Group) error {
	for _, h := range hosts {
		switch {
		case p.None():
			return errors.New("the run has no hosts: say how many, as in --hosts 4, or name nodes, as in 0-2")
		case int(h) >= p.Hosts():
			return fmt.Errorf("there is no host %d: %w", h, p.which())
		}
	}
	return nil
}

// which returns an error that says which numbers the hosts have.
func (p *Placement) which() error {
	if p.Hosts() == 1 {
		return errors.New("there is one, and it is 0")
	}
	return fmt.Errorf("they are 0 to %d", p.Hosts()-1)
}

// Name returns the name of a host: the one that the run names or was assigned, or else h and its number.
func (p *Placement) Name(host int) string {
	if p.names[host] == "" {
		return "h" + strconv.Itoa(host)
	}
	return p.names[host]
}

// Assign returns the placement on available hosts, which are given by name. A host that the placement names
// is assigned to the available host of that name; the others are assigned to the first hosts that are left.
// It is an error if a host is missing.
func (p *Placement) Assign(available []string) (Placement, error) {
	left := slices.Clone(available)
	there := "none are available"
	if len(available) > 0 {
		there = "there are " + strings.Join(available, ", ")
	}
	if len(p.names) > len(available) {
		return Placement{}, fmt.Errorf("the run takes %s: %s", english.Count(len(p.names), "host", "hosts"), there)
	}
	for _, asked := range p.names {
		i := slices.Index(left, asked)
		switch {
		case asked == "":
		case i < 0:
			return Placement{}, fmt.Errorf("there is no host %s: %s", asked, there)
		default:
			left = slices.Delete(left, i, i+1)
		}
	}
	on := Placement{hostOf: p.hostOf, names: slices.Clone(p.names)}
	for i, asked := range on.names {
		if asked == "" {
			on.names[i], left = left[0], left[1:]
		}
	}
	return on, nil
}

// A Host is one host of a run with the nodes on it.
type Host struct {
	Name  string      `yaml:"host" json:"host"`
	Nodes nodes.Group `yaml:"nodes" json:"nodes"`
}

// All returns all hosts in order, each with its nodes; nil if the run is on one machine.
func (p *Placement) All() (all []Host) {
	for i := range p.names {
		all = append(all, Host{p.Name(i), p.Nodes(i)})
	}
	return all
}
