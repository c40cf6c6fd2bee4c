package effect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// CutServer has nothing pass between servers of a service, or between these and clients.
type CutServer struct {
	plain
	Between serverCut `yaml:"cut-server"`
	Close   bool      `yaml:"close"`
}

var cutServer = Kind{Key: "cut-server", Layer: OfServers,
	Says: "nothing passes the connections between clients and servers, or between servers, without a word to " +
		"either end; with `close: true` they are closed, and new ones refused",
	Example: "cut-server: holder/servers", Breaks: nodes.NoLoss | nodes.Timing, Zero: new(CutServer),
	Flag: "have clients cut off from `servers`, as in holder/servers or 0-2/server 1, or servers from each " +
		"other, as in 'server 0/server 1-2'",
	More: []Key{{Name: "close", Says: "have --cut-server and --drop-answer close connections"}}}

func (*CutServer) Leaves() time.Duration { return reconnecting }

func (c *CutServer) more() (more []string) {
	if c.Close {
		more = append(more, "with connections closed")
	}
	return more
}

func (c *CutServer) breaks() nodes.Assumption {
	if c.Between.clients.IsZero() {
		return nodes.ServersUp | nodes.ServerMajority
	}
	return cutServer.Breaks
}

// Begin has the transport cut connections: of clients that are up and of others.
func (c *CutServer) Begin(on *Carrier, of Group) (hit int, err error) {
	cut := port.ServerCut{Close: c.Close}
	sides := make([][]int, len(c.Between.sides))
	for i, side := range c.Between.sides {
		if sides[i], err = on.named(side, of); err != nil {
			return 0, err
		}
	}
	if !c.Between.clients.IsZero() {
		for _, id := range of {
			if on.Up(id) {
				hit++
			}
			for _, server := range sides[0] {
				cut.Clients = append(cut.Clients, port.ClientLink{Client: id, Server: server})
			}
		}
		on.hitServers(sides[0]...)
		return hit, on.CutServers(on.Number, cut)
	}
	for i, some := range sides {
		for _, others := range sides[:i] {
			for _, a := range some {
				for _, b := range others {
					pair := [2]int{min(a, b), max(a, b)}
					if a != b && !slices.Contains(cut.Peers, pair) {
						cut.Peers = append(cut.Peers, pair)
						on.hitServers(a, b)
					}
				}
			}
		}
	}
	slices.SortFunc(cut.Peers, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	on.Parted = cut.Peers
	return 0, on.CutServers(on.Number, cut)
}

// Heal has it pass again.
func (*CutServer) Heal(c *Carrier) error { return c.HealServers(c.Number) }

// A serverCut says between whom nothing passes: some clients and servers, or servers of different sides.
type serverCut struct {
	clients Target // zero: it is between servers
	sides   []ServersOf
}

// CutClients cuts clients off from all servers.
func CutClients(clients Target) *CutServer {
	return &CutServer{Between: serverCut{clients, []ServersOf{{Word: serversWord}}}}
}

// CutLeadingServer cuts the server that leads off from the others.
func CutLeadingServer() *CutServer {
	return &CutServer{Between: serverCut{sides: []ServersOf{{Word: LeadingServer}, {Word: serversWord}}}}
}

// namesServers reports whether a side of a cut is one of servers.
func namesServers(side string) bool {
	words := strings.Fields(side)
	return len(words) > 0 && (words[0] == serverWord || words[0] == serversWord)
}

// serverCutForms lists what parseServerCut takes, for its errors.
const serverCutForms = "holder/servers, 0-2/server 1, 3/server leader (clients from servers), " +
	"server 0/server 1-2, server leader/servers, server of holder/servers (a server from others)"

// parseServerCut reads a cut of servers: two sides with / between them, or more if all are servers.
func parseServerCut(text string) (c serverCut, err error) {
	fail := func(why string) (serverCut, error) {
		return serverCut{}, fmt.Errorf("%q is no cut of servers%s: write %s", text, why, serverCutForms)
	}
	if strings.Contains(text, ">") {
		return fail(", since connections are cut both ways")
	}
	parts := strings.Split(text, "/")
	taken := map[nodes.ID]bool{}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if !namesServers(part) {
			if !c.clients.IsZero() {
				return fail("")
			}
			if c.clients, err = ParseTarget(part); err != nil {
				return fail("")
			}
			continue
		}
		side := ServersOf{Word: serversWord}
		if part != serversWord && side.UnmarshalText([]byte(part)) != nil {
			return fail("")
		}
		for _, id := range side.Group {
			if taken[id] {
				return fail(fmt.Sprintf(", since server %d is in it twice", id))
			}
			taken[id] = true
		}
		c.sides = append(c.sides, side)
	}
	words := slices.ContainsFunc(c.sides, func(s ServersOf) bool { return s.Word != "" })
	switch clients := !c.clients.IsZero(); {
	case len(parts) < 2:
		return fail(", since it has one side")
	case clients && len(c.sides) != 1:
		return fail(", since it has clients on one side and servers on more")
	case clients && c.sides[0].Word == ServerOfHolder && c.clients.Word != "holder":
		return fail(", since others are cut off from the server of the holder: name it by its number")
	case !clients && words && (len(c.sides) > 2 || c.sides[0].Word == c.sides[1].Word):
		return fail("")
	}
	return c, nil
}

// OfClients reports whether an effect is a cut between clients and servers.
func (c *CutServer) OfClients() bool { return !c.Between.clients.IsZero() }

// String writes the cut as parseServerCut reads it.
func (c serverCut) String() string {
	var words []string
	if !c.clients.IsZero() {
		words = append(words, c.clients.String())
	}
	for _, s := range c.sides {
		word := serverWord + " " + s.String()
		if s.Word == serversWord {
			word = serversWord
		}
		words = append(words, word)
	}
	return strings.Join(words, "/")
}

// Short is String.
func (c serverCut) Short() string { return c.String() }

// MarshalText is String.
func (c serverCut) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is parseServerCut in place. Nothing cuts nothing.
func (c *serverCut) UnmarshalText(text []byte) (err error) {
	if *c = (serverCut{}); len(text) > 0 {
		*c, err = parseServerCut(string(text))
	}
	return err
}
