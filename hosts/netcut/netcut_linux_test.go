package netcut

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
)

// Roles of a process of this test program, named by an environment variable.
const (
	roleKey = "TURNSTILE_NETCUT_TEST"
	inside  = "inside" // a test, in a network namespace of its own
	farHost = "host"   // the host that is cut off
	cutter  = "cutter" // cuts, and waits to be killed
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleKey) {
	case farHost:
		beHost()
	case cutter:
		t, _ := For("a")
		fmt.Println(errors.Join(t.Cut("1", []uint16{4222, 6222}), t.Cut("2", []uint16{4222})))
		io.Copy(io.Discard, os.Stdin)
	default:
		os.Exit(m.Run())
	}
}

// again returns this test program as another process, in its own network namespace if own is set.
func again(role string, own bool, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), roleKey+"="+role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if own {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	}
	return cmd
}

// apart reports whether the test is in its own network namespace. If not, apart has run the test in another
// process with its own namespace, or has skipped the test.
func apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(roleKey) == inside {
		return true
	}
	_, err := exec.LookPath("ip")
	if os.Getuid() != 0 || err != nil {
		const why = "it makes network namespaces, which takes root and the program ip"
		fmt.Fprintf(os.Stderr, "SKIPPED: %s: %s\n", t.Name(), why)
		t.Skip(why)
	}
	if out, err := again(inside, true, "-test.run", "^"+t.Name()+"$").CombinedOutput(); err != nil {
		t.Fatalf("in a network namespace of its own: %v\n%s", err, out)
	}
	return false
}

// ip runs the program ip.
func ip(args string) error {
	if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", args, err, out)
	}
	return nil
}

// A cut silently drops each packet of the ports in both directions. Packets within the host pass, and so does
// the control connection that orders the heal. After the heal everything arrives.
func TestACutDropsBothWaysUntilItIsHealed(t *testing.T) {
	if !apart(t) {
		return
	}
	p := connect(t)
	if err := p.dial(); err != nil {
		t.Fatal(err)
	}
	p.wants("dial %s %d", near, p.port)
	p.wants("say")
	if err := p.near.say(); err != nil {
		t.Fatal(err)
	}
	p.counts(2, 2)
	p.wants("cut - %d", p.port)
	if err := p.near.say(); err != nil {
		t.Errorf("sending to a host that is cut off: %v", err)
	}
	p.wants("say")
	if err, is := p.dial().(net.Error); !is || !err.Timeout() {
		t.Errorf("connecting to a host that is cut off does not wait: %v", err)
	}
	if says := p.order("dial %s %d", near, p.port); !strings.Contains(says, "i/o timeout") {
		t.Errorf("connecting from there is no wait: %s", says)
	}
	p.wants("dial %s", far) // the far host dials itself
	if here, there := p.near.count(), p.order("count"); here != 2 || there != "2" {
		t.Errorf("while it was cut off, %d bytes were heard here and %s there, and not 2", here, there)
	}
	p.wants("heal")
	p.counts(4, 4)
	if err := p.dial(); err != nil {
		t.Errorf("connecting after the heal: %v", err)
	}
}

// tables lists the tables of this network namespace, each with its chains.
func tables(t *testing.T) (names []string) {
	t.Helper()
	c, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.ListTables()
	chains, failed := c.ListChains()
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	for _, table := range all {
		name := table.Name
		for _, chain := range chains {
			if chain.Table.Name == table.Name {
				name += " " + chain.Name
			}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// wantTables checks which tables there are.
func wantTables(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := tables(t); !slices.Equal(got, want) {
		t.Errorf("%s the tables are %q, and not %q", when, got, want)
	}
}

// Clear deletes the table that a killed process has left, and no other table.
func TestClearDeletesOneTableAlone(t *testing.T) {
	if !apart(t) {
		return
	}
	c, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	foreign := c.AddTable(&nftables.Table{Name: "foreign", Family: nftables.TableFamilyINet})
	c.AddChain(&nftables.Chain{Name: "in-1", Table: foreign})
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	other, _ := For("b")
	if err := errors.Join(other.Cut("1", []uint16{1}), Check()); err != nil {
		t.Fatal(err)
	}
	cmd := again(cutter, false)
	in, _ := cmd.StdinPipe()
	defer in.Close()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if says, _ := bufio.NewReader(out).ReadString('\n'); says != "<nil>\n" {
		t.Fatalf("cutting: %s", says)
	}
	cmd.Process.Kill()
	cmd.Wait()
	const foreigns, others = "foreign in-1", "turnstile-b in-1 out-1"
	wantTables(t, "after the kill", foreigns, "turnstile-a in-1 out-1 in-2 out-2", others)
	x, _ := For("a")
	if err := x.Cut("2", []uint16{1}); err == nil || !strings.Contains(err.Error(), "there is a cut 2 already") {
		t.Errorf("the same cut again: %v", err)
	}
	if err := errors.Join(x.Heal("1"), x.Heal("3")); err != nil {
		t.Error(err)
	}
	wantTables(t, "after one heal", foreigns, "turnstile-a in-2 out-2", others)
	if err := errors.Join(x.Clear(), x.Clear(), x.Heal("2")); err != nil {
		t.Error(err)
	}
	wantTables(t, "once cleared", foreigns, others)
	if err := other.Heal("1"); err != nil {
		t.Error(err)
	}
	wantTables(t, "after the last heal", foreigns)
}

// Check names the capability that a process lacks. Namespace returns the same text each time in one
// network namespace, and another text in another one.
func TestCheckSaysWhatIsMissing(t *testing.T) {
	if !apart(t) {
		return
	}
	here, err := Namespace()
	if again, failed := Namespace(); err != nil || failed != nil || again != here {
		t.Errorf("this namespace is %s, and then %s, %v, %v", here, again, err, failed)
	}
	if err := Check(); err != nil {
		t.Errorf("with the capability: %v", err)
	}
	without := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Error(err)
		}
		if there, err := Namespace(); err != nil || there == here {
			t.Errorf("another namespace is %s, and this one %s, %v", there, here, err)
		}
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&head, &none[0]); err != nil {
			t.Error(err)
		}
		without <- Check()
	}()
	if err := <-without; err == nil || !strings.Contains(err.Error(), "NET_ADMIN") {
		t.Errorf("without the capability: %v", err)
	}
	wantTables(t, "after the checks")
}

// Addresses of the hosts of the test.
const near, far = "10.9.0.1", "10.9.0.2"

// A heard counts the bytes that have come on some connections, and can send on them.
type heard struct {
	sync.Mutex
	conns []net.Conn
	bytes int
}

// add reads from a connection from now on.
func (h *heard) add(conn net.Conn) {
	h.Lock()
	h.conns = append(h.conns, conn)
	h.Unlock()
	go func() {
		for b := make([]byte, 1); ; {
			if _, err := conn.Read(b); err != nil {
				return
			}
			h.Lock()
			h.bytes++
			h.Unlock()
		}
	}()
}

// say sends a byte on each connection, once there is one in each direction.
func (h *heard) say() (err error) {
	for until := time.Now().Add(patience); h.links() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return errors.New("nobody has connected")
		}
	}
	h.Lock()
	defer h.Unlock()
	for _, conn := range h.conns {
		_, failed := conn.Write([]byte("x"))
		err = errors.Join(err, failed)
	}
	return err
}

func (h *heard) links() int {
	h.Lock()
	defer h.Unlock()
	return len(h.conns)
}

func (h *heard) count() int {
	h.Lock()
	defer h.Unlock()
	return h.bytes
}

// listen listens at an address, accepts connections, and returns the port.
func (h *heard) listen(address string) (port uint16, err error) {
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		return 0, err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h.add(conn)
		}
	}()
	return uint16(l.Addr().(*net.TCPAddr).Port), nil
}

// soon is how long a packet that is not dropped may take.
const soon = 150 * time.Millisecond

// patience is how long a process waits for the other process.
const patience = 20 * time.Second

// beHost is the host that is cut off. It prints the numbers of its control port and its data port, and obeys
// orders on the control port.
func beHost() {
	bufio.NewReader(os.Stdin).ReadString('\n') // waits until its end of the cable exists
	err := errors.Join(ip("link set lo up"), ip("addr add "+far+"/24 dev far"), ip("link set far up"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var data heard
	port, err := data.listen(far)
	control, failed := net.Listen("tcp", far+":0")
	if err = errors.Join(err, failed); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(port, control.Addr().(*net.TCPAddr).Port)
	conn, _ := control.Accept()
	table, _ := For("far")
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		var order, address string
		var other uint16
		fmt.Sscan(lines.Text(), &order, &address, &other)
		var err error
		switch order {
		case "cut":
			err = errors.Join(Check(), table.Cut("1", []uint16{port, other}))
		case "heal":
			err = table.Heal("1")
		case "say":
			err = data.say()
		case "count":
			err = fmt.Errorf("%d", data.count())
		case "dial":
			var to net.Conn
			if to, err = net.DialTimeout("tcp", fmt.Sprintf("%s:%d", address, cmp.Or(other, port)), soon); err == nil {
				data.add(to)
			}
		}
		fmt.Fprintln(conn, err)
	}
}

// A pair is two hosts connected by a cable: this process, and another.
type pair struct {
	t     *testing.T
	near  heard
	port  uint16 // port for data on this host
	there uint16 // port for data on the other host
	ask   *bufio.ReadWriter
}

// connect makes a pair.
func connect(t *testing.T) *pair {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	other := again(farHost, true)
	in, _ := other.StdinPipe()
	out, _ := other.StdoutPipe()
	runtime.LockOSThread() // the other process ends with the thread that starts it
	fail(other.Start())
	t.Cleanup(func() { other.Process.Kill(); other.Wait(); runtime.UnlockOSThread() })
	fail(ip("link set lo up"))
	fail(ip(fmt.Sprintf("link add near type veth peer name far netns %d", other.Process.Pid)))
	fail(ip("addr add " + near + "/24 dev near"))
	fail(ip("link set near up"))
	fmt.Fprintln(in)
	p := &pair{t: t}
	line, _ := bufio.NewReader(out).ReadString('\n')
	control := 0
	if _, err := fmt.Sscan(line, &p.there, &control); err != nil {
		t.Fatalf("the other host: %s", line)
	}
	var err error
	p.port, err = p.near.listen(near)
	fail(err)
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("%s:%d", far, control), 5*time.Second)
	fail(err)
	t.Cleanup(func() { conn.Close() })
	p.ask = bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
	return p
}

// order gives the other host an order, and returns its answer, which is <nil> for success.
func (p *pair) order(format string, args ...any) string {
	p.t.Helper()
	fmt.Fprintf(p.ask, format+"\n", args...)
	p.ask.Flush()
	says, err := p.ask.ReadString('\n')
	if err != nil {
		p.t.Fatalf("the control port: %v", err)
	}
	return strings.TrimSpace(says)
}

// wants gives the other host an order that must succeed.
func (p *pair) wants(format string, args ...any) {
	p.t.Helper()
	if says := p.order(format, args...); says != "<nil>" {
		p.t.Errorf(format+": %s", append(args, says)...)
	}
}

// dial connects to the data of the other host.
func (p *pair) dial() error {
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("%s:%d", far, p.there), soon)
	if err == nil {
		p.near.add(conn)
	}
	return err
}

// counts waits until both hosts have heard that many bytes.
func (p *pair) counts(here, there int) {
	p.t.Helper()
	until := time.Now().Add(patience)
	for p.near.count() != here || p.order("count") != fmt.Sprint(there) {
		if time.Now().After(until) {
			p.t.Fatalf("heard were %d here and %s there, and not %d and %d", p.near.count(), p.order("count"), here,
				there)
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
}

// Invalid names are refused, since names end up in the tables of the kernel.
func TestNamesAreChecked(t *testing.T) {
	for _, name := range []string{"", "-a", "a b", "..", "a/b", "{", strings.Repeat("a", 65)} {
		if _, err := For(name); err == nil {
			t.Errorf("%q names a table", name)
		}
		if err := checkCut(name, []uint16{1}); err == nil {
			t.Errorf("%q is the id of a cut", name)
		}
	}
	if err := checkCut("a", nil); err == nil || !strings.Contains(err.Error(), "without ports") {
		t.Errorf("a cut of no ports: %v", err)
	}
	if x, err := For("Host-1"); err != nil || x.name != "turnstile-Host-1" {
		t.Errorf("the table is %v, %v", x, err)
	}
}
