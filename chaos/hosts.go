package chaos

import (
	"slices"

	"turnstile/chaos/effect"
	"turnstile/chaos/place"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// placed returns a copy of the fault that names the nodes on hosts instead of the hosts.
func (f *Fault) placed(s *Scene) (*Fault, error) {
	if f.Effect == nil { // checkKind refuses such a fault
		return f, nil
	}
	k, p := f.kind(), &s.Placement
	if k.Role == port.Host && p.None() {
		return nil, f.mistake(k.Key, "%s: it takes hosts with networks of their own and NET_ADMIN: say how many, "+
			"as in --hosts 4, or write cut: and groups of nodes", f.What())
	}
	for _, named := range []struct {
		key   string
		hosts nodes.Group
	}{{k.Key, effect.HostsOf(f.Effect)}, {"between", f.Between.Hosts()}, {"when", f.When.Hosts}} {
		if err := p.Check(named.hosts); err != nil {
			return nil, f.mistake(named.key, "%s: %w", f.What(), err)
		}
	}
	if p.None() {
		return f, nil
	}
	if cut := f.cut(); len(cut.Of.Hosts) == p.Hosts() {
		return nil, f.mistake(k.Key, "%s: that leaves no node to be cut off from", f.What())
	}
	on := *f
	on.Effect = effect.Clone(f.Effect)
	if err := effect.Settle(on.Effect, p.Nodes, s.apart); err != nil {
		return nil, f.mistake(k.Key, "%w", err)
	}
	var err error
	if on.Between, err = f.Between.Settled(p.Nodes); err != nil {
		return nil, f.mistake("between", "%w", err)
	}
	if len(f.When.Hosts) > 0 {
		on.When.Who, on.When.Hosts = effect.OnHosts(f.When.Hosts, p.Nodes), nil
	}
	on.placement = p
	return &on, nil
}

// OnHosts returns stored faults with the placement of their run. Faults from Resolve have it already.
func OnHosts(stored []Fault, p *place.Placement) []Fault {
	if p.None() {
		return stored
	}
	all := slices.Clone(stored)
	for i := range all {
		all[i].placement = p
	}
	return all
}

// hostOf returns the number of the host of a node.
func (f *Fault) hostOf(id nodes.ID) int { return f.placement.HostOf(id) }

// nodesOn returns the nodes on a host.
func (f *Fault) nodesOn(host int) nodes.Group { return f.placement.Nodes(host) }

// CutsNetworks reports whether the kernels of hosts carry out some of the faults. Such hosts need networks of
// their own, and NET_ADMIN.
func CutsNetworks(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return f.kind().Role == port.Host })
}
