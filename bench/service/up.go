package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"turnstile/bench/cluster"
)

// An order is what a process that has servers is told. One field is set.
type order struct {
	Start   *startOrder  `json:"start,omitempty"` // answered by a Started
	Kill    *serverOrder `json:"kill,omitempty"`
	Restart *serverOrder `json:"restart,omitempty"`
	Stop    *serverOrder `json:"stop,omitempty"` // it stands still
	Go      *serverOrder `json:"go,omitempty"`   // on
	Promote *serverOrder `json:"promote,omitempty"`
	Leader  bool         `json:"leader,omitempty"` // answered by its number
	PIDs    bool         `json:"pids,omitempty"`   // answered by those of the servers; 0: it is down
	End     bool         `json:"end,omitempty"`    // all servers
	Await   *serverOrder `json:"await,omitempty"`  // until it serves
}

type startOrder struct {
	Program string `json:"program,omitempty"` // empty: it is looked for
	Dir     string `json:"dir"`               // the folder of all data, which is removed in the end
}

type serverOrder struct {
	Server int  `json:"server"`
	Forget bool `json:"forget,omitempty"` // Restart: with an empty folder
}

// Started says where the servers are.
type Started struct {
	Addresses []string `json:"addresses"` // of clients, by member: host:port
	Peers     []string `json:"peers"`     // of the other members; empty if they know nothing of each other
}

// up does what it is told until in ends. Then all servers end, and their folder is removed.
func (t Table) up(s *Service, v Values, in io.Reader, out io.Writer) (err error) {
	u := &upper{service: s, values: v, self: t.Self}
	defer func() { err = errors.Join(err, u.end()) }()
	return cluster.ServeOrders(in, out, func(line json.RawMessage) (any, error) {
		var o order
		if err := json.Unmarshal(line, &o); err != nil {
			return nil, fmt.Errorf("reading an order for the servers: %w", err)
		}
		return u.obey(&o)
	})
}

// An upper has the servers of one run.
type upper struct {
	service *Service
	values  Values
	group   *group
	self    []string // this program: see Table
	dir     string
}

func (u *upper) obey(o *order) (any, error) {
	ctx := context.Background()
	switch {
	case o.Start != nil:
		return u.start(ctx, o.Start)
	case u.group == nil:
		return nil, errors.New("the servers were not started")
	case o.Leader:
		return u.leader(ctx)
	case o.PIDs:
		all := make([]int, len(u.group.members))
		for i, m := range u.group.members {
			if m.up() {
				all[i] = m.process.(interface{ Pid() int }).Pid()
			}
		}
		return all, nil
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

func (u *upper) start(ctx context.Context, o *startOrder) (any, error) {
	if u.group != nil {
		return nil, errors.New("the servers are to start a second time")
	}
	u.dir = o.Dir
	g, err := startGroup(ctx, u.service, u.values, o.Program, o.Dir, u.self)
	if err != nil {
		return nil, err
	}
	u.group = g
	var s Started
	for _, m := range g.members {
		s.Addresses = append(s.Addresses, m.Address(0))
		if len(m.Ports) > 1 {
			s.Peers = append(s.Peers, m.Address(1))
		}
	}
	return s, nil
}

func (u *upper) leader(ctx context.Context) (any, error) {
	if u.service.Servers.Leader == nil {
		return nil, fmt.Errorf("no server of %s leads", u.service.Name)
	}
	return u.service.Servers.Leader(ctx, u.group.members)
}

func (u *upper) promote(ctx context.Context, m *Member) error {
	if u.service.Servers.Promote == nil || len(u.group.members) == 1 {
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
