//go:build linux

package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"turnstile/hosts/cluster"
	"turnstile/internal/terminal"
	"turnstile/internal/unavailable"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[2] == fake.Name {
		t := Table{Services: []*Service{&fake}, Self: []string{terminal.OwnPath()}}
		os.Exit(t.Call(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// fake is a service whose servers connect to each other. A server tells clients what it hears at the
// addresses of the other servers, and tells other servers its own number.
var fake = Service{Name: "fake", Declare: func(Values) Declaration { return Declaration{} },
	Servers: &Servers{Members: []int{2, 1}, Ports: 2, Run: runFake, Versioned: func() string { return "1" },
		Command: func(m *Member) (args, env []string) {
			args = []string{fmt.Sprint("I am ", m.Number), m.Address(0), m.Address(1)}
			for _, other := range m.All {
				if m.Reach(other, 1) != m.Address(1) {
					args = append(args, other.Peer(1))
				}
			}
			return args, nil
		},
		Ready: func(ctx context.Context, m *Member) error {
			_, err := hear(m.Address(0))
			return err
		}}}

func runFake(ctx context.Context, args []string) error {
	clients, err := net.Listen("tcp", args[1])
	if err != nil {
		return err
	}
	servers, err := net.Listen("tcp", args[2])
	if err != nil {
		return err
	}
	die := make(chan os.Signal, 1)
	signal.Notify(die, syscall.SIGUSR2)
	go func() {
		<-die
		os.Exit(9)
	}()
	go tell(servers, func() string { return args[0] })
	go tell(clients, func() (all string) {
		for _, other := range args[3:] {
			says, err := hear(other)
			all += fmt.Sprintf("%s (%v)", says, err)
		}
		return all
	})
	<-ctx.Done()
	return nil
}

// tell answers each connection.
func tell(l net.Listener, what func() string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			io.WriteString(conn, what())
		}()
	}
}

// hear returns what the server at an address sends.
func hear(address string) (string, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	says, err := io.ReadAll(conn)
	return string(says), err
}

// heldFake returns the two fake servers, which are not started yet.
func heldFake(t *testing.T) *Running {
	t.Helper()
	r, err := Hold(t.Context(), cluster.NewLauncher(), &Program{Command: []string{terminal.OwnPath()},
		Name: fake.Name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// hears fails the test unless the server at an address sends want.
func hears(t *testing.T, address, want string) {
	t.Helper()
	if says, err := hear(address); err != nil || says != want {
		t.Errorf("%s says %q (%v), not %q", address, says, err, want)
	}
}

// Servers reach each other by the proxy of the link between them, also after a restart. Other connections are
// refused.
func TestFronts(t *testing.T) {
	r := heldFake(t)
	var through []PeerLink
	for _, l := range r.Links {
		proxy, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer proxy.Close()
		go tell(proxy, func() string {
			says, err := hear(l.Address)
			return fmt.Sprintf("%v: %s %v", l, says, err)
		})
		through = append(through, PeerLink{l.From, l.To, l.Port, proxy.Addr().String()})
	}
	if err := r.Start(t.Context(), through, false); err != nil {
		t.Fatal(err)
	}
	const zero = "server 0 to port 1 of server 1: I am 1 <nil> (<nil>)"
	hears(t, r.Addresses[0], zero)
	hears(t, r.Addresses[1], "server 1 to port 1 of server 0: I am 0 <nil> (<nil>)")
	if err := r.Do(t.Context(), Order{Do: Kill}, Order{Do: Start}); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(10 * time.Second); ; {
		if _, err := hear(r.Addresses[0]); err == nil || time.Now().After(late) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	hears(t, r.Addresses[0], zero)
	pids, err := r.PIDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pids[0]))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(strings.TrimRight(string(args), "\x00"), "\x00")
	hears(t, words[len(words)-1], "") // the front of server 1 closes a connection that no server opened
}

// Without proxies, servers reach each other directly.
func TestServersWithoutFronts(t *testing.T) {
	r := heldFake(t)
	if err := r.Start(t.Context(), nil, false); err != nil {
		t.Fatal(err)
	}
	hears(t, r.Addresses[0], "I am 1 (<nil>)")
	hears(t, r.Links[0].Address, "I am 1")
}

// If a server ends by itself, with any status, or stands still, and no order was the reason, the process of
// the servers ends and says so. A server without its data may end.
func TestServersThatAreDisturbed(t *testing.T) {
	suspend := func(r *Running) error { return r.Do(t.Context(), Order{Do: Stop}) }
	forget := func(r *Running) error {
		err := r.Do(t.Context(), Order{Do: Kill}, Order{Do: Start, Forget: true}, Order{Do: Await})
		for pids := []int{1}; err == nil && pids[0] != 0; pids, err = r.PIDs(t.Context()) {
			if now, wrong := r.PIDs(t.Context()); wrong == nil && now[0] != 0 {
				syscall.Kill(now[0], syscall.SIGTERM)
			}
		}
		return err
	}
	for name, x := range map[string]struct {
		before func(*Running) error
		signal syscall.Signal
		says   string
	}{
		"ends well":           {nil, syscall.SIGTERM, "server 1 ended on its own: exited with status 0"},
		"dies":                {nil, syscall.SIGUSR2, "server 1 ended on its own: exit status 9"},
		"stands still":        {suspend, syscall.SIGSTOP, "server 1 stands still: a signal that is not the run's"},
		"ends after amnesia":  {forget, syscall.SIGTERM, "server 1 ended on its own: exited with status 0"},
		"is killed on a stop": {suspend, syscall.SIGKILL, "server 1 ended on its own: signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := heldFake(t)
			if err := r.Start(t.Context(), nil, false); err != nil {
				t.Fatal(err)
			}
			if x.before != nil {
				if err := x.before(r); err != nil {
					t.Fatal(err)
				}
			}
			pids, err := r.PIDs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pids[1], x.signal); err != nil {
				t.Fatal(err)
			}
			all := r.Processes()[0]
			<-all.Ended()
			if says := all.Fate().Says; !strings.Contains(says, x.says) || strings.Contains(says, "server 0") {
				t.Errorf("it says %q, not %q", says, x.says)
			}
		})
	}
}

// A program that does not describe its service in time is unavailable: the command line may be right.
func TestDescriptionIsLate(t *testing.T) {
	defer func(limit time.Duration) { describeLimit = limit }(describeLimit)
	describeLimit = 10 * time.Millisecond
	_, err := (&Program{Command: []string{"sh", "-c", "exec sleep 99"}}).Describe(t.Context())
	if !unavailable.Is(err) || !strings.Contains(err.Error(), "it has not answered within 10ms") {
		t.Errorf("the error is %v", err)
	}
}

// Servers can be cut off from each other if there are several, and each has a port for the others.
func TestLinksDescribed(t *testing.T) {
	for members, want := range map[string]bool{"2": true, "1": false} {
		p := Program{Command: []string{terminal.OwnPath()}, Name: fake.Name, Words: []string{"members=" + members}}
		d, err := p.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d.Peers != want {
			t.Errorf("%s servers can be cut off from each other: %t", members, d.Peers)
		}
	}
	if (&Servers{Ports: 1}).linked(3) {
		t.Error("servers without ports for each other can be cut off from each other")
	}
}

// ownerOf returns which of some processes has a socket, or 0 if another process has it.
func TestOwnerOf(t *testing.T) {
	for name, dial := range map[string]func(*testing.T, netip.AddrPort) netip.AddrPort{
		"IPv4": dial, "a socket for both": dialBoth} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			to := addrPort(l.Addr())
			from := dial(t, to)
			own, other := os.Getpid(), os.Getppid()
			for _, test := range []struct {
				from, to netip.AddrPort
				pids     []int
				want     int
			}{
				{from, to, []int{other, own}, own},
				{from, to, []int{other}, 0},
				{from, to, nil, 0},
				{to, from, []int{own}, 0}, // no process owns this end: l has not accepted yet
				{from, netip.AddrPortFrom(to.Addr(), to.Port()^1), []int{own}, 0},
			} {
				if pid, err := ownerOf(test.from, test.to, test.pids, nil); err != nil || pid != test.want {
					t.Errorf("of %v to %v among %v: %d, not %d (%v)", test.from, test.to, test.pids, pid, test.want, err)
				}
			}
		})
	}
}

// In many containers, root may not trace other users' processes. The sockets of servers are found there too.
func TestOwnerOfAnotherUser(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if os.Geteuid() != 0 || err != nil {
		t.Skip("not root, or there is no bash: NO SOCKET OF ANOTHER USER IS LOOKED FOR")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	to := addrPort(l.Addr())
	cmd := exec.CommandContext(t.Context(), bash, "-c",
		fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d && read", to.Port()))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Credential: &syscall.Credential{Uid: nobody.uid, Gid: nobody.gid}}
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // Pdeathsig is tied to this thread. It stays locked, since it loses a capability
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer input.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	mayNotTrace(t)
	from, pids := addrPort(conn.RemoteAddr()), []int{cmd.Process.Pid}
	if pid, err := ownerOf(from, to, pids, nil); err != nil || pid != 0 {
		t.Errorf("root finds what it may not see: %d (%v)", pid, err)
	}
	if pid, err := ownerOf(from, to, pids, &nobody); err != nil || pid != pids[0] {
		t.Errorf("%d is found, not %v (%v)", pid, pids, err)
	}
	if uid, err := unix.SetfsuidRetUid(-1); uid != 0 || err != nil {
		t.Errorf("this thread has the rights of %d (%v)", uid, err)
	}
}

// mayNotTrace drops this thread's capability to trace other users' processes.
func mayNotTrace(t *testing.T) {
	t.Helper()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&header, &caps[0]); err != nil {
		t.Fatal(err)
	}
	caps[0].Effective &^= 1 << unix.CAP_SYS_PTRACE
	if err := unix.Capset(&header, &caps[0]); err != nil {
		t.Fatal(err)
	}
}

// dial connects to an address, and returns the address of its own end.
func dial(t *testing.T, to netip.AddrPort) netip.AddrPort {
	conn, err := net.Dial("tcp", to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return addrPort(conn.LocalAddr())
}

// dialBoth is like dial, for programs with one socket for both versions of IP.
func dialBoth(t *testing.T, to netip.AddrPort) netip.AddrPort {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EAFNOSUPPORT) {
		t.Skip("there is no IPv6 here")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Connect(fd, &unix.SockaddrInet6{Addr: to.Addr().As16(), Port: int(to.Port())}); err != nil {
		t.Fatal(err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	a := own.(*unix.SockaddrInet6)
	if !slices.Equal(a.Addr[:12], []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}) {
		t.Fatalf("connected from %v", a.Addr)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
}

// An endpoint must have as many servers as the options say, unless these talk to each other.
func TestEndpointsAreTaken(t *testing.T) {
	of := func(ports int, onlyHere string) *Service {
		return &Service{Name: "x", Servers: &Servers{Members: []int{3, 5}, Ports: ports, OnlyHere: onlyHere}}
	}
	for name, x := range map[string]struct {
		s        *Service
		endpoint string
		says     string
	}{
		"none":             {&Service{Name: "x"}, "a:1", "x has no servers"},
		"a file":           {of(1, "it is a file"), "a:1", "takes no --endpoint: it is a file"},
		"too few":          {of(1, ""), "a:1", "names 1 server, and x has 3 with these options"},
		"as many":          {of(1, ""), "a:1,b:1,c:1", ""},
		"one of a cluster": {of(2, ""), "a:1", ""},
	} {
		err := x.s.checkEndpoint(x.endpoint, Values{Members: "3"})
		if (err == nil) != (x.says == "") || err != nil && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
