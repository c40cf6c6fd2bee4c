package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"turnstile/hosts/cluster"
	"turnstile/internal/proc"
)

// An order is an order to a process that controls servers. Exactly one field is set.
type order struct {
	Hold    *holdOrder   `json:"hold,omitempty"` // takes ports; the answer is a Held
	Start   *startOrder  `json:"start,omitempty"`
	Kill    *serverOrder `json:"kill,omitempty"`
	Restart *serverOrder `json:"restart,omitempty"`
	Stop    *serverOrder `json:"stop,omitempty"` // suspends the server
	Go      *serverOrder `json:"go,omitempty"`   // resumes the server
	Skew    *serverOrder `json:"skew,omitempty"` // moves the server's clock
	Promote *serverOrder `json:"promote,omitempty"`
	Leader  bool         `json:"leader,omitempty"` // the answer is the number of the leader
	PIDs    bool         `json:"pids,omitempty"`   // the answer is the process ID of each server; 0: it is down
	End     bool         `json:"end,omitempty"`    // ends all servers
	Again   bool         `json:"again,omitempty"`  // restarts all servers with empty folders
	Await   *serverOrder `json:"await,omitempty"`  // waits until the server serves
}

type holdOrder struct {
	Program string `json:"program,omitempty"` // path of the program; empty: look in PATH and packages
	Dir     string `json:"dir"`               // folder for all data, which is removed at the end
}

type startOrder struct {
	Links  []PeerLink `json:"links,omitempty"`  // all links; nil: servers reach each other directly
	Clocks bool       `json:"clocks,omitempty"` // the clocks of servers can be set
}

type serverOrder struct {
	Server int           `json:"server"`
	Forget bool          `json:"forget,omitempty"` // for Restart: start with an empty folder
	By     time.Duration `json:"by,omitempty"`     // for Skew: how far the clock jumps ahead
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
	case o.Hold != nil:
		return u.hold(o.Hold)
	case u.group == nil:
		return nil, errors.New("the servers have no ports yet")
	}
	u.group.orders.Lock()
	defer u.group.orders.Unlock()
	switch {
	case o.Start != nil:
		if o.Start.Clocks {
			if err := u.group.setClocks(u.dir); err != nil {
				return nil, err
			}
		}
		if err := u.group.startAll(ctx, o.Start.Links); err != nil {
			return nil, err
		}
		go u.group.look()
		return nil, nil
	case o.Leader:
		return u.leader(ctx)
	case o.PIDs:
		all := make([]int, len(u.group.members))
		for i, m := range u.group.members {
			if m.up() {
				all[i] = m.process.Pid()
			}
		}
		return all, nil
	case o.Again:
		return nil, u.group.again(ctx)
	case o.End:
		return nil, u.end()
	}
	g := u.group
	for _, x := range []struct {
		order *serverOrder
		do    func(m *Member) error
	}{
		{o.Kill, g.kill},
		{o.Restart, func(m *Member) error { return g.restart(ctx, m, o.Restart.Forget) }},
		{o.Stop, (*Member).stop},
		{o.Go, (*Member).resume},
		{o.Skew, func(m *Member) error { return m.skew(o.Skew.By) }},
		{o.Promote, func(m *Member) error { return u.promote(ctx, m) }},
		{o.Await, func(m *Member) error { return g.await(ctx, m) }},
	} {
		if x.order != nil {
			m, err := g.member(x.order.Server)
			if err != nil {
				return nil, err
			}
			return nil, x.do(m)
		}
	}
	return nil, errors.New("the order to the servers is empty")
}

func (u *controller) hold(o *holdOrder) (any, error) {
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
