package effect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"turnstile/nodes"
)

// The words for servers of a service.
const (
	serverWord  = "server"  // what a list of them begins with, where nodes may stand too
	serversWord = "servers" // all of them
	// LeadingServer is the server that leads then, or is the primary.
	LeadingServer = "leader"
	// ServerOfHolder is the server that answered the next client to enter last, as that client is inside.
	ServerOfHolder = "of holder"
)

// ErrNobodyLeads says that a fault is for the server that leads, and none does now.
var ErrNobodyLeads = errors.New("no server leads")

// ServersOf says which servers of a service an effect hits. They count from 0.
type ServersOf struct {
	Group
	Word string // if there is no list: LeadingServer, ServerOfHolder or serversWord
}

// ServersNamed returns a list of servers.
func ServersNamed(all []int) (s ServersOf) {
	for _, i := range all {
		s.Group = append(s.Group, nodes.ID(i))
	}
	return s
}

// UnmarshalText reads servers: 0, 0-1, 0,2, leader or of holder. The word server may stand before.
func (s *ServersOf) UnmarshalText(text []byte) (err error) {
	*s = ServersOf{}
	list := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(text)), serverWord+" "))
	if list == LeadingServer || list == ServerOfHolder {
		s.Word = list
		return nil
	}
	if s.Group, err = ParseGroup(list); err != nil {
		err = fmt.Errorf("%q names no servers: write 0, 0-1 or 0,2, each once, %s or %s", text,
			LeadingServer, ServerOfHolder)
	}
	return err
}

// String writes the servers as UnmarshalText reads them.
func (s ServersOf) String() string {
	if s.Word != "" {
		return s.Word
	}
	return s.Group.String()
}

// Short is String.
func (s ServersOf) Short() string { return s.String() }

// MarshalText is String.
func (s ServersOf) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A oneServer is one of them.
type oneServer struct{ ServersOf }

// UnmarshalText reads the number of a server: 1 or server 1.
func (s *oneServer) UnmarshalText(text []byte) error {
	if err := s.ServersOf.UnmarshalText(text); err != nil || len(s.Group) != 1 {
		return fmt.Errorf("%q names no server: write one number, as in 1", text)
	}
	return nil
}

// ServersIn returns the servers that an effect names, on each side if it is a cut; nil: it is for none.
func ServersIn(e Effect) []ServersOf {
	switch of := valueOf(e).(type) {
	case *ServersOf:
		return []ServersOf{*of}
	case *oneServer:
		return []ServersOf{of.ServersOf}
	case *serverCut:
		return of.sides
	}
	return nil
}

// named returns the servers that those are now, if the fault hits some nodes: of the holder, that is it.
func (c *Carrier) named(s ServersOf, of Group) ([]int, error) {
	switch s.Word {
	case ServerOfHolder:
		server, err := c.AnsweredLast(of[0])
		return []int{server}, err
	case LeadingServer:
		leader, err := c.LeadingServer()
		if err != nil || leader < 0 { // servers that are down or elect a leader may not even answer
			err = errors.Join(ErrNobodyLeads, err)
		}
		return []int{leader}, err
	case serversWord:
		s.Group = nil
		for i := range c.Servers() {
			s.Group = append(s.Group, nodes.ID(i))
		}
	}
	var all []int
	for _, id := range s.Group {
		all = append(all, int(id))
	}
	return all, nil
}

// takeServers has servers do nothing, unless they are down or another fault has them stopped.
func (c *Carrier) takeServers(s ServersOf, of Group, how func(int) error) error {
	all, err := c.named(s, of)
	for _, i := range all {
		if err == nil && c.ServerUp(i) && !c.ServerStands(i) {
			c.Hit = append(c.Hit, i)
			err = how(i)
		}
	}
	return err
}

// giveServersBack heals the servers that it has taken.
func (c *Carrier) giveServersBack(how func(int) error) (err error) {
	for _, i := range c.Hit {
		err = errors.Join(err, how(i))
	}
	return err
}

// hitServers notes servers that the fault hits.
func (c *Carrier) hitServers(all ...int) {
	for _, i := range all {
		if !slices.Contains(c.Hit, i) {
			c.Hit = append(c.Hit, i)
		}
	}
	slices.Sort(c.Hit)
}
