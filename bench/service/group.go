package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"turnstile/hosts/cluster"
	"turnstile/internal/disk"
	"turnstile/internal/proc"
	"turnstile/internal/secret"
)

// A group is the servers of a run.
type group struct {
	servers  *Servers
	launcher *proc.Launcher
	tools    *proc.Launcher // starts the programs that prepare servers: as nobody, if as is set
	as       *owner         // user that runs the servers; nil: this process's user
	within   []string       // command of servers within this program; nil: the servers are another program
	members  []*Member
	secret   *secret.Secret
	fronts   *fronts            // nil: members reach each other directly
	lost     chan error         // receives once a server ended or stands still, and no order was the reason
	clocks   *clocks            // the members' clocks, if they can be set; nil: the machine's clock
	orders   sync.Mutex         // held while an order is carried out
	ending   context.Context    // ends when the servers are ended on purpose
	over     context.CancelFunc // cancels ending
}

// An owner is a user that runs servers.
type owner struct{ uid, gid uint32 }

// nobody is the user that prepares the folders of servers if this process is root: initdb demands one with a
// name, other than root.
var nobody = owner{65534, 65534}

// unusedUser returns the user that runs servers if this process is root: some servers refuse to run as root,
// and no server needs to. No other process is of this user, since it could read the secret of the run. Debian
// leaves the numbers from 61184 to 65519 to such users.
func unusedUser() *owner {
	used := map[uint32]bool{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range all {
		var info syscall.Stat_t
		if syscall.Stat(process, &info) == nil {
			used[info.Uid] = true
		}
	}
	for {
		if id := 61184 + rand.Uint32N(4336); !used[id] {
			return &owner{id, id}
		}
	}
}

// startLimit is the default limit for the start of servers. Time in which they wait for processors does not
// count.
const startLimit = 20 * time.Second

// stopLimit is how long a server may take to shut down.
const stopLimit = 2 * time.Second

// newGroup returns servers that hold their ports and are not started. The folder must exist.
func newGroup(s *Service, v Values, program, dir string, self []string) (*group, error) {
	paths, err := s.Servers.Paths(v, program)
	if err != nil {
		return nil, err
	}
	g := &group{servers: s.Servers, launcher: proc.NewLauncher(), tools: proc.NewLauncher()}
	if g.secret, err = secret.Make(filepath.Join(dir, "secrets")); err != nil {
		return nil, err
	}
	g.ending, g.over = context.WithCancel(context.Background())
	if s.Servers.Run != nil {
		g.within = slices.Concat(self, []string{"server", s.Name})
	}
	if os.Geteuid() == 0 && s.Servers.Run == nil { // other users may be unable to read this program
		g.as = unusedUser()
		g.launcher.As(g.as.uid, g.as.gid)
		g.tools.As(nobody.uid, nobody.gid)
	}
	for i, path := range paths {
		g.members = append(g.members, &Member{group: g, servers: s.Servers.of(v, i), Number: i, Program: path,
			Values: v, Dir: filepath.Join(dir, fmt.Sprint(i)), Secret: g.secret})
	}
	for _, m := range g.members {
		m.All = g.members
		for range s.Servers.Ports {
			held, err := cluster.HoldPort()
			if err != nil {
				return nil, errors.Join(err, g.end())
			}
			m.held, m.Ports = append(m.held, held), append(m.Ports, held.Number)
		}
	}
	return g, nil
}

// startAll starts the servers, and waits until all serve. If links are given, the servers reach each other
// through fronts. If startAll fails, the caller must end the group.
func (g *group) startAll(ctx context.Context, links []PeerLink) (err error) {
	if links != nil {
		if g.fronts, err = newFronts(g, links); err != nil {
			return err
		}
	}
	together := max(1, len(g.members))
	if g.servers.InTurn {
		together = 1
	}
	for some := range slices.Chunk(g.members, together) {
		if err := g.startSome(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// startSome starts members, and waits until they serve.
func (g *group) startSome(ctx context.Context, members []*Member) error {
	for _, do := range []func(m *Member) error{
		func(m *Member) error { return g.prepare(ctx, m) },
		g.start,
		func(m *Member) error { return g.await(ctx, m) },
	} {
		for _, m := range members {
			if err := do(m); err != nil {
				return err
			}
		}
	}
	for _, m := range members {
		go g.watch(m.process, false)
	}
	return nil
}

// prepare makes the folder of a member.
func (g *group) prepare(ctx context.Context, m *Member) error {
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return err
	}
	if m.servers.Prepare != nil {
		if err := g.give(m, &nobody); err != nil {
			return err
		}
		if err := m.servers.Prepare(ctx, m); err != nil {
			return fmt.Errorf("preparing server %d: %w", m.Number, err)
		}
	}
	return g.give(m, g.as)
}

// give makes the folder of a member belong to a user, if servers run as another user than this process.
func (g *group) give(m *Member, to *owner) error {
	if g.as == nil {
		return nil
	}
	return filepath.WalkDir(m.Dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(to.uid), int(to.gid))
	})
}

// start starts the process of a member.
func (g *group) start(m *Member) (err error) {
	m.suspended.Store(false)
	args, env := m.servers.Command(m)
	program := g.within
	if program == nil {
		program = []string{m.Program}
	}
	m.process, err = g.launcher.Start(proc.Command{Name: fmt.Sprintf("server %d", m.Number),
		Program: slices.Concat(program, args), Env: append(env, g.env(m)...)})
	if err != nil {
		return err
	}
	if g.fronts != nil {
		g.fronts.took(m, m.process.Pid())
	}
	return nil
}

// watch reports that a server has ended, unless an order was the reason: what clients do after that shows
// nothing about the service. If a fault has removed the data of the server, the service may answer with an
// exit, and watch reports only a SIGKILL.
func (g *group) watch(p *proc.Process, forgot bool) {
	<-p.Ended()
	if f := p.Fate(); !f.Dismissed && (f.Killed || !forgot) {
		g.lose(fmt.Errorf("%s ended on its own: %s", p.Name(), f.Says))
	}
}

// lose reports an error that ends the run, such as a full disk, unless the servers are being ended on
// purpose. If why is nil, it reports only a full disk.
func (g *group) lose(why error) {
	if why = errors.Join(g.full(), why); why == nil || g.ending.Err() != nil {
		return
	}
	select {
	case g.lost <- why:
	default: // it was reported before, or nobody listens
	}
}

// lookEvery is the time between two looks at the servers.
const lookEvery = 200 * time.Millisecond

// scarce is how many bytes are left at most on a disk that counts as full: servers write more at once.
const scarce = 64 << 10

// full returns an error if the disk with the data of the servers is full.
func (g *group) full() error {
	dir := filepath.Dir(g.members[0].Dir)
	if free, known := disk.Free(dir); !known || free > scarce {
		return nil
	}
	return fmt.Errorf("the disk of TMPDIR, which has the data of the servers (%s), is full: free some space, "+
		"or set TMPDIR to a folder on another disk", dir)
}

// look reports a server that stands still although no order has suspended it, and a full disk.
func (g *group) look() {
	for ; g.ending.Err() == nil; time.Sleep(lookEvery) {
		g.lose(nil)
		g.orders.Lock()
		for _, m := range g.members {
			if m.up() && !m.suspended.Load() && m.process.StandsStill() {
				g.lose(fmt.Errorf("%s stands still: a signal that is not the run's has stopped it (SIGSTOP)%s",
					m.process.Name(), m.process.LastWords()))
			}
		}
		g.orders.Unlock()
	}
}

// await waits until a member serves.
func (g *group) await(ctx context.Context, m *Member) error {
	limit := m.servers.Limit
	if limit == 0 {
		limit = startLimit
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		if <-m.process.Late(limit); m.up() {
			cancel()
		}
	}()
	for {
		err := g.ready(ctx, m)
		if err == nil && m.up() { // if m is down, another process on its port has answered
			return nil
		}
		select {
		case <-m.process.Ended():
			return fmt.Errorf("server %d did not start: %s", m.Number, m.process.Fate().Says)
		case <-ctx.Done():
			return fmt.Errorf("server %d does not serve after %v: %w; %s", m.Number, limit, err, g.words(m))
		case <-time.After(20 * time.Millisecond): // pause before asking again
		}
	}
}

// ready asks once whether a member serves. It gives up if the member's process ends: another process on its
// port might never answer.
func (g *group) ready(ctx context.Context, m *Member) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-m.process.Ended():
			cancel()
		case <-ctx.Done():
		}
	}()
	return m.servers.Ready(ctx, m)
}

// words ends a member, and returns the end of its output.
func (g *group) words(m *Member) string {
	m.process.Dismiss()
	<-m.process.Ended()
	return m.process.Fate().Says
}

// member returns the member with a number.
func (g *group) member(i int) (*Member, error) {
	if i < 0 || i >= len(g.members) {
		return nil, fmt.Errorf("there is no server %d: they count from 0 to %d", i, len(g.members)-1)
	}
	return g.members[i], nil
}

// up reports whether the process of a member exists, running or suspended.
func (m *Member) up() bool {
	if m.process == nil {
		return false
	}
	select {
	case <-m.process.Ended():
		return false
	default:
		return true
	}
}

// kill ends a member at once.
func (g *group) kill(m *Member) error {
	if !m.up() {
		return fmt.Errorf("server %d is down already", m.Number)
	}
	m.kill()
	return nil
}

// restart starts a member that is down, with its data or with an empty folder. It does not wait until the
// member serves, since the member may need other servers that are down.
func (g *group) restart(ctx context.Context, m *Member, forget bool) error {
	if m.up() {
		return fmt.Errorf("server %d is up", m.Number)
	}
	if forget {
		if err := os.RemoveAll(m.Dir); err != nil {
			return err
		}
		if err := g.prepare(ctx, m); err != nil {
			return err
		}
	}
	err := g.start(m)
	if err == nil {
		go g.watch(m.process, forget)
	}
	return err
}

// again restarts all servers at their addresses, without their data.
func (g *group) again(ctx context.Context) error {
	for _, m := range g.members {
		if m.up() {
			m.kill()
		}
		m.process = nil // like a member that was never started: it finds no cluster to rejoin
		if err := os.RemoveAll(m.Dir); err != nil {
			return err
		}
	}
	return g.startAll(ctx, nil)
}

// end ends all servers, and releases their ports. The folder stays.
func (g *group) end() (err error) {
	g.over()
	for _, m := range g.members {
		if m.up() { // a suspended server cannot end
			m.resume()
			m.process.Signal(cmp.Or(m.servers.Stop, syscall.SIGTERM))
		}
	}
	late := time.After(stopLimit)
	for _, m := range g.members {
		if m.process != nil {
			select {
			case <-m.process.Ended():
			case <-late:
				m.kill()
			}
		}
		for _, held := range m.held {
			held.Release()
		}
	}
	if g.fronts != nil {
		g.fronts.close()
	}
	return nil
}
