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

// A PeerLink is how one server reaches a port of another.
type PeerLink struct {
	From int `json:"from"`
	To   int `json:"to"`
	Port int `json:"port"` // from 1: 0 is that of clients
	// Address is host:port of that, or of a proxy that connects to it.
	Address string `json:"address"`
}

// String names the link.
func (l PeerLink) String() string {
	return fmt.Sprintf("server %d to port %d of server %d", l.From, l.Port, l.To)
}

// linked reports whether so many servers have links between them that can be cut.
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

// fronts are what servers take each other for, if connections between them run through proxies. Many services
// know one address of each member, which is the same for all others, so a front finds out which member
// connects to it: the one that has the socket at the other end. It passes the connection on to the address of
// the link between the two. All other connections are closed.
type fronts struct {
	group  *group
	links  map[PeerLink]string // addresses, by links without them
	relays []*relay.Relay

	mu   sync.Mutex
	pids map[*Member]int // the process of each
}

// newFronts returns the fronts of all members. The links are all that there are between them.
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

// took says which process a member is from now on.
func (f *fronts) took(m *Member, pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pids[m] = pid
}

// dial reaches the address of the link between the member that has opened a connection and the one that it
// connects to.
func (f *fronts) dial(ctx context.Context, conn net.Conn, to *Member, port int) (net.Conn, error) {
	from, err := f.whose(conn)
	if err != nil {
		return nil, err
	}
	address, is := f.links[PeerLink{From: from, To: to.Number, Port: port}]
	if !is { // it connects to itself
		address = to.Address(port)
	}
	return relay.To(address)(ctx, conn)
}

// errStranger is said of a connection of nobody among the members.
var errStranger = errors.New("no server has opened the connection")

// whose returns the member that has opened a connection. What the kernel says of all sockets may miss one
// while others come and go, and the process of a member may not be known yet, so it looks several times.
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
		time.Sleep(20 * time.Millisecond) // until the next look
	}
	return -1, errStranger
}

// processes returns the members, by their processes and those that these have started.
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

// close ends the fronts. The members have ended, and with them their connections.
func (f *fronts) close() {
	for _, r := range f.relays {
		r.Stop()
	}
}
