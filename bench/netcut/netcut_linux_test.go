package netcut

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
)

// Roles of a process of this test program. An environment variable names the role.
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

// again returns this test program as another process, in a network namespace of its own if it is to have one.
func again(role string, own bool, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), roleKey+"="+role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if own {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	}
	return cmd
}

// apart reports whether the test is in a network namespace of its own. If it is not, it has been run in one,
// or was skipped.
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

// ip runs the program of that name.
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
		t.Errorf("saying something to who is cut off: %v", err)
	}
	p.wants("say")
	if err, is := p.dial().(net.Error); !is || !err.Timeout() {
		t.Errorf("connecting to who is cut off is no wait: %v", err)
	}
	if says := p.order("dial %s %d", near, p.port); !strings.Contains(says, "i/o timeout") {
		t.Errorf("connecting from there is no wait: %s", says)
	}
	p.wants("dial %s", far) // itself
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

// A process that lacks the capability is told what it takes, and two processes of one network are told apart
// from those of another.
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
