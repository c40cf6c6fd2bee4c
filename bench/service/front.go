package service

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
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
	group     *group
	links     map[PeerLink]string // addresses, by links without them
	listeners []net.Listener
	running   sync.WaitGroup

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
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				f.close()
				return nil, err
			}
			f.listeners = append(f.listeners, listener)
			m.fronts = append(m.fronts, listener.Addr().String())
			f.running.Go(func() { f.accept(listener, m, port) })
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

// accept passes on the connections to a port of a member, until its listener is closed.
func (f *fronts) accept(l net.Listener, to *Member, port int) {
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no file is free, say
			time.Sleep(10 * time.Millisecond)
			continue
		}
		f.running.Go(func() {
			defer conn.Close()
			f.pass(conn, to, port)
		})
	}
}

// frontLimit is how long a front may take to reach a proxy on this machine.
const frontLimit = 2 * time.Second

// pass passes a connection on, until one of the two ends is closed.
func (f *fronts) pass(conn net.Conn, to *Member, port int) {
	from, err := f.whose(conn)
	if err != nil {
		return
	}
	address, is := f.links[PeerLink{From: from, To: to.Number, Port: port}]
	if !is { // it connects to itself
		address = to.Address(port)
	}
	on, err := net.DialTimeout("tcp", address, frontLimit)
	if err != nil {
		return
	}
	var both sync.WaitGroup
	copies := func(to, from net.Conn) {
		io.Copy(to, from)
		to.Close()
		from.Close()
	}
	both.Go(func() { copies(on, conn) })
	copies(conn, on)
	both.Wait()
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
		for _, one := range append(descendants(pid), pid) {
			all[one] = m.Number
		}
	}
	return all
}

func addrPort(a net.Addr) netip.AddrPort { return a.(*net.TCPAddr).AddrPort() }

// close ends the fronts. The members have ended, and with them their connections.
func (f *fronts) close() {
	for _, l := range f.listeners {
		l.Close()
	}
	f.running.Wait()
}
