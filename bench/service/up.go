package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"turnstile/bench/cluster"
)

// An order is what a process that has servers is told. One field is set.
type order struct {
	Hold    *holdOrder   `json:"hold,omitempty"` // ports, answered by a Held
	Start   *startOrder  `json:"start,omitempty"`
	Kill    *serverOrder `json:"kill,omitempty"`
	Restart *serverOrder `json:"restart,omitempty"`
	Stop    *serverOrder `json:"stop,omitempty"` // it stands still
	Go      *serverOrder `json:"go,omitempty"`   // on
	Skew    *serverOrder `json:"skew,omitempty"` // its clock jumps
	Promote *serverOrder `json:"promote,omitempty"`
	Leader  bool         `json:"leader,omitempty"` // answered by its number
	PIDs    bool         `json:"pids,omitempty"`   // answered by those of the servers; 0: it is down
	End     bool         `json:"end,omitempty"`    // all servers
	Again   bool         `json:"again,omitempty"`  // all servers start again, with empty folders
	Await   *serverOrder `json:"await,omitempty"`  // until it serves
}

type holdOrder struct {
	Program string `json:"program,omitempty"` // empty: it is looked for
	Dir     string `json:"dir"`               // the folder of all data, which is removed in the end
}

type startOrder struct {
	Links  []PeerLink `json:"links,omitempty"`  // all of them; empty: servers reach each other directly
	Clocks bool       `json:"clocks,omitempty"` // those of servers may be set
}

type serverOrder struct {
	Server int           `json:"server"`
	Forget bool          `json:"forget,omitempty"` // Restart: with an empty folder
	By     time.Duration `json:"by,omitempty"`     // Skew: how far it jumps ahead
}

// Held says where the servers are, or will be.
type Held struct {
	Addresses []string   `json:"addresses"`       // of clients, by member: host:port
	Links     []PeerLink `json:"links,omitempty"` // between servers; empty: none can be cut
}

// up does what it is told until in ends. Then all servers end, and their folder is removed. If somebody else
// kills a server, it returns at once: what clients do from then on says nothing about the service. The
// servers that are left end with this process, and whoever has started it removes their folder.
func (t Table) up(s *Service, v Values, in io.Reader, out io.Writer) error {
	u := &upper{service: s, values: v, self: t.Self, lost: make(chan error, 1)}
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

// An upper has the servers of one run.
type upper struct {
	service *Service
	values  Values
	group   *group
	self    []string // this program: see Table
	dir     string
	lost    chan error // which server somebody else has killed; nil: nobody asks
}

func (u *upper) obey(o *order) (any, error) {
	ctx := context.Background()
	switch {
	case o.Hold != nil:
		return u.hold(o.Hold)
	case u.group == nil:
		return nil, errors.New("the servers have no ports yet")
	case o.Start != nil:
		if o.Start.Clocks {
			if err := u.group.setClocks(u.dir); err != nil {
				return nil, err
			}
		}
		return nil, u.group.startAll(ctx, o.Start.Links)
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
	return nil, errors.New("the servers are ordered to do nothing")
}

func (u *upper) hold(o *holdOrder) (any, error) {
	if u.group != nil {
		return nil, errors.New("the servers are to have ports a second time")
	}
	u.dir = o.Dir
	g, err := newGroup(u.service, u.values, o.Program, o.Dir, u.self)
	if err != nil {
		return nil, err
	}
	u.group, g.lost = g, u.lost
	h := Held{Links: g.links()}
	for _, m := range g.members {
		h.Addresses = append(h.Addresses, m.Address(0))
	}
	return h, nil
}

func (u *upper) leader(ctx context.Context) (any, error) {
	if u.service.Servers.Leader == nil {
		return nil, fmt.Errorf("no server of %s leads", u.service.Name)
	}
	return u.service.Servers.Leader(ctx, u.group.members)
}

func (u *upper) promote(ctx context.Context, m *Member) error {
	if !u.service.Servers.promotes(u.values) || m.servers != u.service.Servers {
		return fmt.Errorf("%s has no standby", u.service.Name)
	}
	return u.service.Servers.Promote(ctx, m)
}

// end ends the servers, if there are any, and removes their folder.
func (u *upper) end() (err error) {
	if u.group != nil {
		err = u.group.end()
		u.group = nil
	}
	if u.dir != "" {
		err = errors.Join(err, os.RemoveAll(u.dir))
	}
	return err
}
