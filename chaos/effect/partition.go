package effect

import (
	"errors"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Partition cuts groups off from each other: groups of nodes, of brokers or of servers, servers and clients,
// or hosts, whose kernels drop the packets.
type Partition struct {
	plain
	Cut    Cut  `yaml:"cut"`
	Close  bool `yaml:"close"`
	Kernel bool `yaml:"kernel"`
}

var cutNodes = Kind{Key: "cut", Layer: OfLinks, Says: "messages between groups of nodes are lost",
	Example: "cut: 0-1/2-4", Filters: []string{"kind", "instance", "network"},
	Without: []string{"close", "kernel"}, Breaks: nodes.NoLoss, Cuts: true, Zero: new(Partition),
	Flag: "have messages between `groups` of nodes lost for some time, as in 0-1/2-4, or 0>1-2 for one way; " +
		"or nothing pass between clients and servers, as in holder/servers, between servers, as in " +
		"'server 0/server 1-2', or on the routes of brokers, as in 'broker 0/broker 1-2'",
	More: []Key{{Name: "close", Says: "have --cut of servers and --drop-answer close connections"},
		{Name: "kernel", Says: "have the kernels of the hosts that --cut names drop all packets of messages"}}}

var cutBrokers = Kind{Key: "cut", Role: port.Broker, Layer: ofBrokers, Proxies: true,
	Says: "the routes between groups of brokers are closed, and messages that would pass them are lost; it " +
		"needs --brokers 3",
	Example: "cut: broker 0/broker 1-2", Without: []string{"close", "kernel"},
	Breaks: nodes.NoLoss | nodes.Timing, Cuts: true,
	StandIn: "a cut between the nodes there", Zero: new(Partition)}

var cutHosts = Kind{Key: "cut", Role: port.Host, Layer: ofHosts,
	Says: "the kernels of hosts drop all packets of messages from and to other hosts; it needs --hosts, and " +
		"NET_ADMIN on the hosts",
	Example: "cut: host 1, kernel: true, for: 500ms", Without: []string{"close"},
	Breaks: nodes.NoLoss | nodes.Timing, Cuts: true,
	StandIn: "a cut between the nodes there and those of other hosts", Zero: new(Partition)}

var cutServers = Kind{Key: "cut", Role: port.Server, Layer: OfServers, Proxies: true,
	Says: "nothing passes the connections between clients and servers, while the " +
		"connections stay open; with `close: true` they are closed, and new ones refused",
	Example: "cut: holder/servers", Without: []string{"kernel"}, Breaks: nodes.NoLoss | nodes.Timing,
	Zero: new(Partition)}

func (p *Partition) role() port.Role {
	if p.Kernel {
		return port.Host
	}
	return p.Cut.Role()
}

func (p *Partition) more() (more []string) {
	if p.Close {
		more = append(more, "with connections closed")
	}
	if p.Kernel {
		more = append(more, "in the kernel")
	}
	return more
}

func (p *Partition) Check(time.Duration, bool) (string, error) {
	if p.Kernel && len(p.hosts()) == 0 {
		return "kernel", errors.New("a cut in the kernel cuts hosts off from all others: name only those hosts, " +
			"as in cut: host 1")
	}
	return "", nil
}

// longestRetry is the longest retransmission timeout of TCP on Linux.
const longestRetry = 2 * time.Minute

// Leaves returns how long brokers, servers and their clients may take to reconnect. After packets were
// dropped, TCP waits before it sends them again. It doubles its waits, so the wait that is going on when the
// cut is healed is no longer than the cut was.
func (p *Partition) Leaves(lasts time.Duration) time.Duration {
	switch p.role() {
	case port.Node:
		return 0
	case port.Host:
		if lasts == 0 {
			lasts = longestRetry
		}
		return min(lasts, longestRetry) + reconnecting
	}
	return reconnecting
}

func (p *Partition) breaks() nodes.Assumption {
	if p.role() == port.Server && !p.ofClients() {
		return nodes.ServersUp | nodes.ServerMajority
	}
	return KindOf(p).Breaks
}

// ofClients reports whether the cut is between clients and servers.
func (p *Partition) ofClients() bool { return p.role() == port.Server && !p.Cut.Of.IsZero() }

// CutClients cuts clients off from all servers.
func CutClients(clients Target) *Partition {
	return &Partition{Cut: Cut{Of: clients, members: []Target{{Role: port.Server, Word: AllServers}}}}
}

// CutLeadingServer cuts the server that leads off from the others.
func CutLeadingServer() *Partition {
	return &Partition{Cut: Cut{members: []Target{{Role: port.Server, Word: LeadingServer},
		{Role: port.Server, Word: AllServers}}}}
}

// hosts returns the hosts that are cut off from all others.
func (p *Partition) hosts() nodes.Group { return p.Cut.Of.Hosts }

// cutOfHosts returns the cut between nodes that kernels carry out: each named host is cut off from all
// others. on returns the nodes on a host.
func (p *Partition) cutOfHosts(hosts int, on func(host int) nodes.Group) Cut {
	var groups []nodes.Group
	var others nodes.Group
	for h := range hosts {
		if slices.Contains(p.hosts(), nodes.ID(h)) {
			groups = append(groups, on(h))
		} else {
			others = append(others, on(h)...)
		}
	}
	if others != nil {
		groups = append(groups, slices.Sorted(slices.Values(others)))
	}
	return CutInto(false, groups...)
}

func (p *Partition) Strain(w *Wires) (s port.Strain, err error) {
	s.Close = p.Close
	if p.Kernel {
		for _, h := range p.hosts() {
			for other := range w.Hosts {
				if other != int(h) {
					s.Links = append(s.Links, port.Link{A: port.Member{Role: port.Host, I: int(h)},
						B: port.Member{Role: port.Host, I: other}})
				}
			}
		}
		return s, nil
	}
	var sides [][]port.Member
	if p.ofClients() {
		var clients []port.Member
		for _, id := range w.Nodes {
			clients = append(clients, port.NodeOf(id))
		}
		sides = append(sides, clients)
	}
	for i := range p.Cut.members {
		all, err := w.Members(&p.Cut.members[i])
		if err != nil {
			return s, err
		}
		sides = append(sides, all)
	}
	s.Links = between(sides)
	return s, nil
}

// between returns the links between members of different sides, each once.
func between(sides [][]port.Member) (links []port.Link) {
	for i, some := range sides {
		for _, others := range sides[:i] {
			for _, a := range others {
				for _, b := range some {
					l := port.Link{A: a, B: b}
					if a.Role == b.Role && a.I > b.I {
						l = port.Link{A: b, B: a}
					}
					if a != b && !slices.Contains(links, l) {
						links = append(links, l)
					}
				}
			}
		}
	}
	return links
}

// Start starts a cut of links, or the stand-in of a cut of brokers or hosts.
func (p *Partition) Start(at *Place) Link {
	cuts := p.separates(at)
	return func(packet *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if cuts(packet.From, packet.To) {
			return fate[:begun], true
		}
		return fate, false
	}
}

// separates returns a function that reports whether messages from one node to another are lost.
func (p *Partition) separates(at *Place) func(from, to nodes.ID) bool {
	switch p.role() {
	case port.Host:
		is := func(host int) bool { return slices.Contains(p.hosts(), nodes.ID(host)) }
		return func(a, b nodes.ID) bool {
			from, to := at.HostOf(a), at.HostOf(b)
			return from != to && (is(from) || is(to))
		}
	case port.Broker:
		var groups []nodes.Group
		for _, side := range p.Cut.members {
			groups = append(groups, side.List)
		}
		routes := CutInto(false, groups...)
		return func(from, to nodes.ID) bool { return routes.Separates(at.brokerOf(from), at.brokerOf(to)) }
	}
	if p.Cut.Of.ByRun() {
		return func(from, to nodes.ID) bool {
			victim := at.Victim()
			return from == victim || to == victim
		}
	}
	return p.Cut.Separates
}
