//go:build linux

package natskv

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"turnstile/bench/service"
	"turnstile/hosts/cluster"
	"turnstile/internal/secret"
	"turnstile/internal/soak"
	"turnstile/internal/terminal"
	"turnstile/nodes/foreign/program"
)

// Servers connect to each other only at the configured addresses, where faults apply: here n1 and n2 cannot
// reach each other there, and hear of each other from n0.
func TestServersConnectWhereTheyAreTold(t *testing.T) {
	free := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	nobody := free()
	var clients, peers [3]string
	for i := range peers {
		clients[i], peers[i] = free(), free()
	}
	own, err := secret.Make(filepath.Join(t.TempDir(), "secrets"))
	if err != nil {
		t.Fatal(err)
	}
	start := func(i int, name string, one, two, three string) *server.Server {
		o, err := options([]string{name, t.TempDir(), "off", own.Dir, clients[0], one, clients[1], two, clients[2],
			three})
		if err != nil {
			t.Fatal(err)
		}
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(s.WaitForShutdown)
		t.Cleanup(s.Shutdown)
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatalf("%s does not start", name)
		}
		return s
	}
	routes := func(s *server.Server, want int) {
		t.Helper()
		for late := time.Now().Add(10 * time.Second); s.NumRoutes() != want; time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%s has %d routes, not %d", s.Name(), s.NumRoutes(), want)
			}
		}
	}
	n0 := start(0, "n0", peers[0], peers[1], peers[2])
	n1 := start(1, "n1", peers[0], peers[1], nobody)
	routes(n1, 1)
	n2 := start(2, "n2", peers[0], nobody, peers[2])
	routes(n0, 2)
	time.Sleep(500 * time.Millisecond) // in which n1 has heard of n2
	routes(n1, 1)
	routes(n2, 1)
}

// A restarted client opens though no server can be reached, and fails to acquire until one can.
func TestComesUpWithoutServers(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	s := program.Init{Name: "n0", Names: []string{"n0"},
		Options: program.Options{Incarnation: 1, Servers: []string{address}, Prefix: "test/"}}
	v := service.Values{"ttl": "2s", service.Members: "1", "durable": "off", "obey": "on"}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	l, err := open(ctx, s, v)
	if err != nil {
		t.Fatalf("a client that comes up again: %v", err)
	}
	defer l.Close()
	if g, err := l.Acquire(ctx); err == nil {
		t.Errorf("without a server it is granted %v", g)
	}
}

// A fakeKV is a bucket whose servers answer a number of updates. During a Create its client gives up.
type fakeKV struct {
	jetstream.KeyValue
	answers int
	giveUp  func()
}

func (kv *fakeKV) Update(ctx context.Context, _ string, _ []byte, last uint64) (uint64, error) {
	if kv.answers > 0 {
		kv.answers--
		return last + 1, nil
	}
	<-ctx.Done()
	return 0, ctx.Err()
}

func (kv *fakeKV) Create(ctx context.Context, _ string, _ []byte,
	_ ...jetstream.KVCreateOpt) (uint64, error) {
	kv.giveUp()
	return 7, ctx.Err()
}

// A holder whose servers have fallen silent is told when a ttl has passed since its last update was sent: not
// after the key has expired.
func TestToldInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lock{kv: &fakeKV{answers: 1}, ttl: 3 * time.Second}
		began := time.Now()
		<-l.granted(began, 1).Lost
		if after := time.Since(began); after != 4*time.Second { // the update was sent after 1 s
			t.Errorf("it is told after %v", after)
		}
		l.watch.End()
	})
}

// A client that gives up while its key is created holds the lock, and so can release it.
func TestGivesUpTooLate(t *testing.T) {
	ctx, giveUp := context.WithCancel(t.Context())
	l := &lock{kv: &fakeKV{giveUp: giveUp}, ttl: time.Minute}
	if g, err := l.Acquire(ctx); err != nil || g.Fence != 7 {
		t.Errorf("%v, %v", g, err)
	}
	l.watch.End()
	if _, err := l.Acquire(ctx); err == nil {
		t.Error("it creates the key after it has given up")
	}
}

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "proxies":
		if err := cluster.ServeProxies(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) > 2 && os.Args[2] == Service.Name:
		t := service.Table{Services: []*service.Service{&Service}, Self: []string{terminal.OwnPath()}}
		os.Exit(t.Call(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// three starts three servers that reach each other by proxies. It also returns the links between them.
func three(t *testing.T) (*service.Running, *cluster.Proxies, []service.PeerLink) {
	t.Helper()
	l := cluster.NewLauncher()
	proxies, err := cluster.LaunchProxies(t.Context(), []cluster.Host{l},
		[]string{terminal.OwnPath(), "proxies"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxies.Close)
	r, err := service.Hold(t.Context(), l, &service.Program{Command: []string{terminal.OwnPath()},
		Name: Service.Name, Words: []string{"members=3"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	var through []service.PeerLink
	for _, link := range r.Links {
		if link.Address, err = proxies.Add(t.Context(), 0, link.String(), link.Address); err != nil {
			t.Fatal(err)
		}
		through = append(through, link)
	}
	if err := r.Start(t.Context(), through, false); err != nil {
		t.Fatal(err)
	}
	return r, proxies, through
}

// enter acquires and releases a lock, retrying for a time, and returns the fence.
func enter(t *testing.T, l program.Lock, within time.Duration) (uint64, error) {
	t.Helper()
	for late := time.Now().Add(within); ; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		g, err := l.Acquire(ctx)
		if err == nil {
			err = l.Release(ctx)
		}
		cancel()
		if err == nil || time.Now().After(late) {
			return g.Fence, err
		}
		time.Sleep(50 * time.Millisecond) // until the next try
	}
}

// Servers talk through the proxies between them. If the leader is cut off from both others, nobody enters
// through it, the others elect another leader, and the old leader rejoins afterwards.
func TestLeaderIsCutOff(t *testing.T) {
	r, proxies, links := three(t)
	v, err := Service.Parse([]string{"members=3"})
	if err != nil {
		t.Fatal(err)
	}
	var clients []program.Lock
	own, err := secret.Read(r.Secrets)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range r.Addresses {
		l, err := open(t.Context(), program.Init{Name: "n0", Names: []string{"n0"}, Secret: own,
			Options: program.Options{Servers: []string{address}, Prefix: "cut/"}}, v)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		clients = append(clients, l)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.(*lock).make(ended); err == nil { // the client keeps its bucket when make fails
			t.Error("the bucket was made in no time")
		}
		if _, err := enter(t, l, 10*time.Second); err != nil {
			t.Fatalf("nobody enters by %s: %v", address, err)
		}
	}
	if n, err := proxies.Bytes(t.Context(), " of server "); err != nil || n == 0 {
		t.Errorf("%d bytes pass between servers (%v)", n, err)
	}
	if soak.Pick(true, false, false) { // an election takes 4 to 9 s
		return
	}
	lead, err := r.Leader(t.Context())
	if err != nil || lead < 0 {
		t.Fatalf("server %d leads: %v", lead, err)
	}
	cut := cluster.ConnectionFault{Number: 1, Drop: true}
	for _, link := range links {
		if link.From == lead || link.To == lead {
			cut.Names = append(cut.Names, link.String())
		}
	}
	if len(cut.Names) != 4 {
		t.Fatalf("server %d is in %s", lead, strings.Join(cut.Names, ", "))
	}
	if err := proxies.Begin(t.Context(), cut); err != nil {
		t.Fatal(err)
	}
	fence, err := enter(t, clients[(lead+1)%3], 30*time.Second)
	if err != nil {
		t.Fatalf("nobody enters by the majority: %v", err)
	}
	if _, err := enter(t, clients[lead], 2*time.Second); err == nil {
		t.Error("somebody enters by a server that is cut off")
	}
	if err := proxies.Heal(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if last, err := enter(t, clients[lead], 20*time.Second); err != nil || last <= fence {
		t.Errorf("after the cut, fence %d comes after %d: %v", last, fence, err)
	}
}
