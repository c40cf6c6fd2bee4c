package effect

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// hostWord begins a list of hosts.
const hostWord = "host"

// ParseHosts reads a list of hosts, which count from 0: host 1, host 0-2 or host 0,2. It also reports whether
// the text begins with the word host.
func ParseHosts(text string) (hosts nodes.Group, is bool, err error) {
	text = strings.TrimSpace(text)
	list, is := strings.CutPrefix(text, hostWord)
	if !is {
		return nil, false, nil
	}
	hosts, err = nodes.ParseGroup(strings.TrimSpace(list))
	if err != nil || !strings.HasPrefix(list, " ") {
		return nil, true, fmt.Errorf("%q names no hosts: write host 1, host 0-2 or host 0,2, each once", text)
	}
	return hosts, true, nil
}

// hostsText writes a list of hosts as ParseHosts reads it.
func hostsText(hosts nodes.Group) string { return hostWord + " " + hosts.String() }

// OnHosts returns the nodes on some hosts, in order. on returns the nodes on a host.
func OnHosts(hosts nodes.Group, on func(host int) nodes.Group) (all nodes.Group) {
	for _, h := range hosts {
		all = append(all, on(int(h))...)
	}
	return slices.Sorted(slices.Values(all))
}

// HostsOf returns the hosts that an effect names as its target or in a cut.
func HostsOf(e Effect) nodes.Group {
	switch of := valueOf(e).(type) {
	case *Target:
		return of.Hosts
	case *Cut:
		return of.Hosts()
	}
	return nil
}

// Settle replaces the hosts that an effect names, as its target or in a cut, by the nodes on them. on returns
// the nodes on a host, and apart returns the cut between some nodes and all others. Settle does not change an
// effect on hosts themselves.
func Settle(e Effect, on func(host int) nodes.Group, apart func(nodes.Group) Cut) error {
	if RoleOf(e) == port.Host {
		return nil
	}
	switch of := valueOf(e).(type) {
	case *Target:
		of.settle(on)
	case *Cut:
		if len(of.members) > 0 {
			of.Of.settle(on)
			return nil
		}
		if len(of.Of.Hosts) > 0 {
			*of = apart(OnHosts(of.Of.Hosts, on))
			return nil
		}
		settled, err := of.Settled(on)
		if err != nil {
			return err
		}
		*of = settled
	}
	return nil
}

// settle replaces the hosts of the target by their nodes.
func (t *Target) settle(on func(host int) nodes.Group) {
	if len(t.Hosts) > 0 {
		*t = Target{List: OnHosts(t.Hosts, on)}
	}
}

// Hosts returns the hosts that the cut names.
func (c Cut) Hosts() (all nodes.Group) {
	for _, g := range c.hosts {
		all = append(all, g...)
	}
	return append(all, c.Of.Hosts...)
}

// Settled returns the cut with its hosts replaced by their nodes. on returns the nodes on a host.
func (c Cut) Settled(on func(host int) nodes.Group) (Cut, error) {
	if c.hosts == nil {
		return c, nil
	}
	var groups []nodes.Group
	taken := map[nodes.ID]bool{}
	for i, g := range c.groups {
		if len(c.hosts[i]) > 0 {
			g = OnHosts(c.hosts[i], on)
		}
		for _, id := range g {
			if taken[id] {
				return c, fmt.Errorf("%q: node %d is on one side by its number and on another by its host: name it "+
					"once", c.String(), id)
			}
			taken[id] = true
		}
		groups = append(groups, g)
	}
	return CutInto(c.oneWay, groups...), nil
}
