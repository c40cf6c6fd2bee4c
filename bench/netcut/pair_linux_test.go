package netcut

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Addresses of the hosts of the test.
const near, far = "10.9.0.1", "10.9.0.2"

// A heard counts what has come by some connections, on which others can be told something.
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

// say says a byte on each connection, once there is one each way.
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

// listen listens at an address, takes what connects, and returns the port.
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

// soon is how long a packet may take that is not dropped.
const soon = 150 * time.Millisecond

// patience is how long a process waits for the other process.
const patience = 20 * time.Second

// beHost is the host that is cut off: it does what comes by the control port, whose number it prints beside
// that of its data.
func beHost() {
	bufio.NewReader(os.Stdin).ReadString('\n') // its end of the cable is there
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

// A pair is two hosts with a cable between: this process, and another.
type pair struct {
	t     *testing.T
	near  heard
	port  uint16 // of data here
	there uint16 // the same on the other host
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
	runtime.LockOSThread() // it ends with the thread that started it
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

// order has the other host do something, and returns what it says, which is <nil> if all is well.
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

// wants has the other host do something that is to go well.
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

// counts waits until both hosts have heard so much.
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
