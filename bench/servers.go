package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"turnstile/bench/cluster"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// servers are those of the service that a run is about, which suffer faults.
type servers struct {
	*serving // nil: the run has none
	ctx      context.Context
	through  *cluster.Proxies // between clients and servers; nil: there are none
}

var _ port.Servers = servers{}

var errNoServers = errors.New("this run has no servers of its own: choose a service with --service")

// lookLimit is how long servers may take to say which of them leads.
const lookLimit = time.Second

// own returns the servers, if the run has started them.
func (s servers) own() error {
	if s.serving == nil || s.servers == nil {
		return errNoServers
	}
	return nil
}

// Servers implements port.Servers.
func (s servers) Servers() int {
	if s.own() != nil {
		return 0
	}
	return len(s.addresses)
}

// ServerUp implements port.Servers.
func (s servers) ServerUp(i int) bool {
	if s.own() != nil {
		return false
	}
	pids, err := s.servers.PIDs(s.ctx)
	return err == nil && i < len(pids) && pids[i] != 0
}

// LeadingServer implements port.Servers.
func (s servers) LeadingServer() (int, error) {
	if err := s.own(); err != nil {
		return -1, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, lookLimit)
	defer cancel()
	return s.servers.Leader(ctx)
}

// AnsweredLast implements port.Servers.
func (s servers) AnsweredLast(client nodes.ID) (int, error) {
	if err := s.own(); err != nil {
		return -1, err
	}
	if s.through == nil {
		return -1, errNoProxies
	}
	var names []string
	for i := range s.Servers() {
		names = append(names, serverConnection(client, i))
	}
	last, err := s.through.LastOf(s.ctx, names)
	if err == nil && last < 0 {
		err = fmt.Errorf("no server has answered node %d yet", client)
	}
	return last, err
}

// KillServer, RestartServer, PauseServer, ResumeServer, SkewServer and PromoteServer implement port.Servers.
func (s servers) KillServer(i int) error {
	return s.do(func() error { return s.servers.Kill(s.ctx, i) })
}

func (s servers) RestartServer(i int, forget bool) error {
	return s.do(func() error { return s.servers.Restart(s.ctx, i, forget) })
}

func (s servers) PauseServer(i int) error {
	return s.do(func() error { return s.servers.Stop(s.ctx, i) })
}

func (s servers) ResumeServer(i int) error {
	return s.do(func() error { return s.servers.Go(s.ctx, i) })
}

func (s servers) SkewServer(i int, by time.Duration) error {
	return s.do(func() error { return s.servers.Skew(s.ctx, i, by) })
}

func (s servers) PromoteServer(i int) error {
	return s.do(func() error { return s.servers.Promote(s.ctx, i) })
}

// do calls what takes servers of the run's own.
func (s servers) do(what func() error) error {
	if err := s.own(); err != nil {
		return err
	}
	return what()
}

// CutServers implements port.Servers.
func (s servers) CutServers(number int, cut port.ServerCut) error {
	f := cluster.ConnectionFault{Number: number, Drop: !cut.Close, Reset: cut.Close}
	for _, l := range cut.Clients {
		f.Names = append(f.Names, serverConnection(l.Client, l.Server))
	}
	for _, p := range cut.Peers {
		for _, l := range s.links {
			if pair := [2]int{min(l.From, l.To), max(l.From, l.To)}; pair == p {
				f.Names = append(f.Names, l.String())
			}
		}
	}
	return s.begin(f)
}

// HealServers implements port.Servers.
func (s servers) HealServers(number int) error {
	if s.through == nil {
		return errNoProxies
	}
	return s.through.Heal(s.ctx, number)
}

// begin puts a fault of connections of servers in force.
func (s servers) begin(f cluster.ConnectionFault) error {
	switch {
	case s.serving == nil:
		return errNoServers
	case s.through == nil:
		return errNoProxies
	}
	return s.through.Begin(s.ctx, f)
}

// clientBytes returns how many bytes clients and servers have exchanged so far, if that is known: if they do
// so through proxies.
func (s servers) clientBytes() (bytes int64, known bool, err error) {
	if s.serving == nil || s.through == nil {
		return 0, false, nil
	}
	sum, err := s.through.Bytes(s.ctx, toServer)
	return int64(sum), true, err
}

// LoseAnswer and HealAnswer implement port.Servers.
func (s servers) LoseAnswer(number int, lost port.LostAnswer) error {
	f := cluster.ConnectionFault{Number: number, Answer: &cluster.AnswerFault{Nth: lost.Nth, Close: lost.Close,
		Of: map[string]string{}}}
	for _, id := range lost.Clients {
		for i := range s.Servers() {
			name := serverConnection(id, i)
			f.Names = append(f.Names, name)
			f.Answer.Of[name] = fmt.Sprint(id)
		}
	}
	return s.begin(f)
}

func (s servers) HealAnswer(number int) (uint64, error) {
	if s.through == nil {
		return 0, errNoProxies
	}
	hits, err := s.through.Answers(s.ctx, number)
	if err != nil {
		return 0, err
	}
	return hits, s.through.Heal(s.ctx, number)
}
