//go:build linux

package service

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// ownerOf returns the process among some that has a socket, or none if another process has it.
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
				{to, from, []int{own}, 0}, // that end is not accepted yet, so it is nobody's
				{from, netip.AddrPortFrom(to.Addr(), to.Port()^1), []int{own}, 0},
			} {
				if pid, err := ownerOf(test.from, test.to, test.pids, nil); err != nil || pid != test.want {
					t.Errorf("of %v to %v among %v: %d, not %d (%v)", test.from, test.to, test.pids, pid, test.want, err)
				}
			}
		})
	}
}

// Root may not trace processes of others in many containers. The sockets of servers are found there too.
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
	runtime.LockOSThread() // for the signal at its death, and not unlocked, since it loses a capability
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
		t.Errorf("the rights of this thread are those of %d (%v)", uid, err)
	}
}

// mayNotTrace takes the capability from this thread to trace processes of others.
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

// dialBoth is dial as programs do that have one socket for both versions of IP.
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
