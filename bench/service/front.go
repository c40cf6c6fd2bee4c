package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"turnstile/internal/proc"
	"turnstile/internal/relay"
)

// A PeerLink is the link by which one server reaches a port of another.
type PeerLink struct {
	From int `json:"from"`
	To   int `json:"to"`
	Port int `json:"port"` // number of the port, from 1; port 0 is for clients
	// Address is host:port of that port, or of a proxy in front of it.
	Address string `json:"address"`
}

// String describes the link.
func (l PeerLink) String() string {
	return fmt.Sprintf("server %d to port %d of server %d", l.From, l.Port, l.To)
}

// linked reports whether the servers have links between them that can be cut.
func (s *Servers) linked(members int) bool { return findsOwners && s.Ports > 1 && members > 1 }

// links returns all links between members that can be cut.
func (g *group) links() (all []PeerLink) {
	if !g.servers.linked(len(g.members)) {
		return nil
	}
	for _, from := range g.members {
		for _, to := range g.members {
			for port := 1; from != to && port < len(to.Ports); port++ {
				all = append(all, PeerLink{from.Number, to.Number, port, to.Address(port)})
			}
		}
	}
	return all
}

// fronts are the addresses at which servers reach each other, if connections between them run through
// proxies. In many services, all members use the same address of a member, so a front must find out which
// member connects to it: the owner of the socket at the other end. The front forwards the connection to the
// proxy of the link between the two members. It closes connections that no member has opened.
type fronts struct {
	group  *group
	links  map[PeerLink]string // address of the proxy of each link; Address is empty in the keys
	relays []*relay.Relay

	mu   sync.Mutex
	pids map[*Member]int // process ID of each member
}

// newFronts returns the fronts of all members. The links must be all links between them.
func newFronts(g *group, links []PeerLink) (*fronts, error) {
	f := &fronts{group: g, links: map[PeerLink]string{}, pids: map[*Member]int{}}
	for _, l := range links {
		address := l.Address
		l.Address = ""
		f.links[l] = address
	}
	for _, m := range g.members {
		for port := 1; port < len(m.Ports); port++ {
			r := &relay.Relay{Address: "127.0.0.1:0", Dial: func(ctx context.Context, c net.Conn) (net.Conn, error) {
				return f.dial(ctx, c, m, port)
			}}
			if err := r.Start(); err != nil {
				f.close()
				return nil, err
			}
			f.relays = append(f.relays, r)
			m.fronts = append(m.fronts, r.Address)
		}
	}
	return f, nil
}

// took records the process ID of a member.
func (f *fronts) took(m *Member, pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pids[m] = pid
}

// dial connects to the proxy of the link between the member that opened a connection and the member it
// connects to.
func (f *fronts) dial(ctx context.Context, conn net.Conn, to *Member, port int) (net.Conn, error) {
	from, err := f.whose(conn)
	if err != nil {
		return nil, err
	}
	address, is := f.links[PeerLink{From: from, To: to.Number, Port: port}]
	if !is { // the member connects to itself
		address = to.Address(port)
	}
	return relay.To(address)(ctx, conn)
}

// errStranger is the error for a connection that no member has opened.
var errStranger = errors.New("no server has opened the connection")

// whose returns the member that opened a connection. It tries several times: the kernel's list of sockets may
// miss a socket while others come and go, and the process of a member may not be recorded yet.
func (f *fronts) whose(conn net.Conn) (number int, err error) {
	from, to := addrPort(conn.RemoteAddr()), addrPort(conn.LocalAddr())
	for range 5 {
		all := f.processes()
		pid, err := ownerOf(from, to, slices.Collect(maps.Keys(all)), f.group.as)
		switch {
		case err != nil:
			return -1, err
		case pid != 0:
			return all[pid], nil
		}
		time.Sleep(20 * time.Millisecond) // pause before the next try
	}
	return -1, errStranger
}

// processes returns the number of each member, by the IDs of its process and of its descendants.
func (f *fronts) processes() map[int]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[int]int{}
	for m, pid := range f.pids {
		for _, one := range append(proc.Descendants(pid), pid) {
			all[one] = m.Number
		}
	}
	return all
}

func addrPort(a net.Addr) netip.AddrPort { return a.(*net.TCPAddr).AddrPort() }

// close closes the fronts. It is called when the members, and so their connections, have ended.
func (f *fronts) close() {
	for _, r := range f.relays {
		r.Stop()
	}
}
