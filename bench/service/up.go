package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"turnstile/hosts/cluster"
	"turnstile/internal/proc"
)

// An Order is an order to the process that controls servers, about one server.
type Order struct {
	Do     string        `json:"do"` // one of the constants below
	Server int           `json:"server"`
	Forget bool          `json:"forget,omitempty"` // for Start: with an empty folder
	By     time.Duration `json:"by,omitempty"`     // for SetClock: how far the clock jumps ahead; negative: back
}

// The orders about a server are those of port.Cluster, and Await.
const (
	Kill     = "kill"     // ends it at once
	Start    = "start"    // starts it if it is down; the answer comes before it serves
	Stop     = "stop"     // suspends it
	Continue = "continue" // resumes it
	SetClock = "clock"    // moves its clock
	Promote  = "promote"  // makes a standby the primary
	Await    = "await"    // waits until it serves
)

// The orders about all servers.
const (
	hold     = "hold"      // takes ports; the answer is a Held
	startAll = "start all" // starts them, and waits until they serve
	leader   = "leader"    // the answer is the number of the leader
	pids     = "pids"      // the answer is the process ID of each server; 0: it is down
	again    = "again"     // restarts them with empty folders
	end      = "end"       // ends them
	Delete   = "delete"    // deletes the keys of a client's lock; the answer is whether there were any
	Expire   = "expire"    // ends the session of a client; the answer is whether there was one
)

// An order is an Order, or one about all servers.
type order struct {
	Order
	Program string     `json:"program,omitempty"` // for hold: its path; empty: look in PATH and packages
	Dir     string     `json:"dir,omitempty"`     // for hold: the folder for all data, removed at the end
	Links   []PeerLink `json:"links,omitempty"`   // for startAll: nil: servers reach each other directly
	Client  *Client    `json:"client,omitempty"`  // for Delete and Expire
	Clocks  bool       `json:"clocks,omitempty"`  // for startAll: the clocks of servers can be set
}

// Held has the addresses of the servers, which may not run yet.
type Held struct {
	Addresses []string   `json:"addresses"`       // addresses for clients, by member: host:port
	Links     []PeerLink `json:"links,omitempty"` // links between servers; nil: no link can be cut
	Secrets   string     `json:"secrets"`         // folder of what the servers demand: see secret.Read
}

// up carries out orders until the input ends. Then it ends all servers, and removes their folder. If a server
// ends or stands still, and no order was the reason, up returns at once: the behaviour of clients after that
// shows nothing about the service. The other servers end with this process, and the parent process removes
// their folder.
func (t Table) up(s *Service, v Values, in io.Reader, out io.Writer) error {
	u := &controller{service: s, values: v, self: t.Self, lost: make(chan error, 1)}
	served := make(chan error, 1)
	go func() {
		err := cluster.ServeOrders(in, out, func(line json.RawMessage) (any, error) {
			var o order
			if err := json.Unmarshal(line, &o); err != nil {
				return nil, fmt.Errorf("reading an order for the servers: %w", err)
			}
			return u.obey(&o)
		})
		served <- errors.Join(err, u.end())
	}()
	select {
	case err := <-served:
		return err
	case err := <-u.lost:
		return err
	}
}

// A controller controls the servers of one run.
type controller struct {
	service *Service
	values  Values
	group   *group
	self    []string // this program: see Table.Self
	dir     string
	lost    chan error // see group.lost; nil: nobody listens
}

func (u *controller) obey(o *order) (any, error) {
	ctx := context.Background()
	switch {
	case o.Do == hold:
		return u.hold(o)
	case u.group == nil:
		return nil, errors.New("the servers have no ports yet")
	}
	u.group.orders.Lock()
	defer u.group.orders.Unlock()
	switch o.Do {
	case startAll:
		return nil, u.start(ctx, o)
	case leader:
		return u.leader(ctx)
	case pids:
		all := make([]int, len(u.group.members))
		for i, m := range u.group.members {
			if m.up() {
				all[i] = m.process.Pid()
			}
		}
		return all, nil
	case again:
		return nil, u.group.again(ctx)
	case end:
		return nil, u.end()
	case Delete:
		return u.take(ctx, u.service.Delete, o.Client)
	case Expire:
		return u.take(ctx, u.service.Expire, o.Client)
	}
	m, err := u.group.member(o.Server)
	if err != nil {
		return nil, err
	}
	return nil, u.act(ctx, m, &o.Order)
}

// act carries out an order about a server.
func (u *controller) act(ctx context.Context, m *Member, o *Order) error {
	switch o.Do {
	case Kill:
		return u.group.kill(m)
	case Start:
		return u.group.restart(ctx, m, o.Forget)
	case Stop:
		return m.stop()
	case Continue:
		return m.resume()
	case SetClock:
		return m.setClock(o.By)
	case Promote:
		return u.promote(ctx, m)
	case Await:
		return u.group.await(ctx, m)
	}
	return fmt.Errorf("the order %q to the servers is unknown", o.Do)
}

// start starts all servers.
func (u *controller) start(ctx context.Context, o *order) error {
	if o.Clocks {
		if err := u.group.setClocks(u.dir); err != nil {
			return err
		}
	}
	if err := u.group.startAll(ctx, o.Links); err != nil {
		return err
	}
	go u.group.look()
	return nil
}

func (u *controller) hold(o *order) (any, error) {
	if u.group != nil {
		return nil, errors.New("the servers have their ports already")
	}
	u.dir = o.Dir
	g, err := newGroup(u.service, u.values, o.Program, o.Dir, u.self)
	if err != nil {
		return nil, err
	}
	u.group, g.lost = g, u.lost
	h := Held{Links: g.links(), Secrets: g.secret.Dir}
	for _, m := range g.members {
		h.Addresses = append(h.Addresses, m.Address(0))
	}
	return h, nil
}

func (u *controller) leader(ctx context.Context) (any, error) {
	if u.service.Servers.Leader == nil {
		return nil, fmt.Errorf("no server of %s leads", u.service.Name)
	}
	return u.service.Servers.Leader(ctx, u.group.members)
}

func (u *controller) promote(ctx context.Context, m *Member) error {
	if !u.service.Servers.promotes(u.values) || m.servers != u.service.Servers {
		return fmt.Errorf("%s has no standby", u.service.Name)
	}
	return u.service.Servers.Promote(ctx, m)
}

// takeLimit bounds how long Delete and Expire look for the key or session of a client. The request that
// creates it may still be on its way.
const takeLimit = 300 * time.Millisecond

// take takes away what a client has. Servers that do not answer have nothing that could be taken.
func (u *controller) take(ctx context.Context, from Taker, c *Client) (had bool, err error) {
	if from == nil || c == nil {
		return false, fmt.Errorf("clients of %s have nothing that could be taken away", u.service.Name)
	}
	for late := time.Now().Add(takeLimit); ; time.Sleep(5 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		had, err = from(ctx, u.group.members, *c)
		cancel()
		if had || time.Now().After(late) {
			break
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "taking away what", c.Name, "has:", err)
	}
	return had, nil
}

// end ends the servers, if any, and removes their folder.
func (u *controller) end() (err error) {
	if u.group != nil {
		err = u.group.end()
		u.group = nil
	}
	if u.dir != "" {
		err = errors.Join(err, proc.RemoveTemp(u.dir))
	}
	return err
}
