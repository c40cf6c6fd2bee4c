package access

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/internal/certs"
	"turnstile/internal/unavailable"
)

const limit = 10 * time.Second // generous: the machine may be busy

// A journal is a log that a test reads while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// serve serves the control plane, with a folder of keys or without, until the test ends.
func serve(t *testing.T, dir string) (*Server, *journal) {
	t.Helper()
	log := &journal{}
	s, err := Serve(ServerConfig{Listen: "127.0.0.1:0", Keys: dir, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, log
}

// join connects with a key.
func join(t *testing.T, s *Server, keyFile string) *nats.Conn {
	t.Helper()
	conn, err := Connect(s.URL(), keyFile, nats.NoReconnect(), nats.Timeout(limit))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// The server refuses a client without the key of its lab, and the client says why. No error holds a secret.
func TestStrangers(t *testing.T) {
	dir, own := makeKeys(t)
	_, other := makeKeys(t)
	s, log := serve(t, dir)
	open, _ := serve(t, "")
	ours, err := readKey(own)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := readKey(other)
	if err != nil {
		t.Fatal(err)
	}
	mixed := write(t, filepath.Join(dir, "mixed.key"), fmt.Sprintf(labForm, theirs.secret, ours.pin))
	loose := write(t, filepath.Join(dir, "loose.key"), read(t, own))
	if err := os.Chmod(loose, 0o640); err != nil {
		t.Fatal(err)
	}
	at := s.Addr()
	nobody := "tls://127.0.0.2:" + strings.Split(at, ":")[1]
	for _, test := range []struct{ url, key, says string }{
		{"nats://" + at, "", "wants a key: name its file with --key"},
		{"tls://" + at, "", "wants a key: name its file with --key"},
		{"nats://control:4222", "", "is another machine, and without a key"},
		{"nats://me:secret@10.0.0.5", "", "is another machine, and without a key"},
		{"tls://secret@" + at, own, "a credential in it, and there is a key too"},
		{"http://" + at, own, "speaks NATS, and the URL has http://"},
		{"tls://secret@%zz", own, "not a URL of a control plane"},
		{"", own, "not a URL of a control plane"},
		{"tls://" + at, other, "has another certificate than the one in " + other},
		{"tls://" + at, mixed, "refuses the key " + mixed + ": it is of another lab"},
		{"tls://" + at, loose, "(its mode is 0640): chmod 600 " + loose},
		{"tls://" + at, filepath.Join(dir, ControlFile), "is not the key of a lab"},
		{"tls://" + at, dir, "is not the key of a lab"},
		{"tls://" + at, filepath.Join(dir, "none.key"), "no such file"},
		{nobody, own, "nobody serves the control plane at 127.0.0.2:"},
		{open.URL()[strings.Index(open.URL(), "@")+1:], own, "serves without keys: no key is sent there"},
		{"nats://secret@" + open.Addr(), "", "wants the token that is in the URL"},
		{"nats://" + open.Addr(), "", "wants the token that is in the URL"},
	} {
		conn, err := Connect(test.url, test.key, nats.Timeout(limit))
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "secret") ||
			strings.Contains(err.Error(), ours.secret) {
			t.Errorf("%s with %s: %v; not %q", test.url, test.key, err, test.says)
		}
		if unavailable.Is(err) != (test.url == nobody) {
			t.Errorf("%s: that the server cannot be reached is said: %v", test.url, unavailable.Is(err))
		}
	}
	for url, key := range map[string]string{s.URL(): own, "nats://" + at: own, at: own, open.URL(): "",
		"tls://localhost:1,tls://" + at: own} {
		conn, err := Connect(url, key, nats.Timeout(limit))
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		conn.Close()
	}
	if !strings.Contains(log.String(), "authentication error") {
		t.Errorf("the server logs no refusal:\n%s", log)
	}
}

// The server refuses a custom client without the secret, and one with the secret that uses an earlier version
// of TLS or plain TCP. The name that a client sends never begins a line of the log.
func TestStrangersOfTheirOwnMaking(t *testing.T) {
	dir, own := makeKeys(t)
	s, log := serve(t, dir)
	k, err := readKey(own)
	if err != nil {
		t.Fatal(err)
	}
	old := certs.Pinned(k.pin)
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	name := nats.Name("x\n00:00:00 control: all is well")
	for what, o := range map[string][]nats.Option{
		"no secret":       {name, nats.Secure(certs.Pinned(k.pin))},
		"another secret":  {name, nats.Secure(certs.Pinned(k.pin)), nats.Token("guess")},
		"an earlier TLS":  {nats.Secure(old), nats.Token(k.secret)},
		"a certificate":   {nats.Secure(&tls.Config{InsecureSkipVerify: true})},
		"a user's name":   {nats.Secure(certs.Pinned(k.pin)), nats.UserInfo("x", k.secret)},
		"an empty secret": {nats.Secure(certs.Pinned(k.pin)), nats.Token("")},
	} {
		if conn, err := nats.Connect("nats://"+s.Addr(), append(o, nats.Timeout(limit))...); err == nil {
			conn.Close()
			t.Errorf("%s lets a stranger in", what)
		}
	}
	plain, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	plain.SetDeadline(time.Now().Add(limit))
	fmt.Fprintf(plain, "CONNECT {\"auth_token\":%q}\r\nPING\r\n", k.secret)
	if said, _ := io.ReadAll(plain); strings.Contains(string(said), "PONG") {
		t.Errorf("by plain TCP the server says %q", said)
	}
	for line := range strings.Lines(log.String()) {
		if strings.HasPrefix(line, "00:00:00 control: all is well") {
			t.Errorf("a stranger writes a line of the log:\n%s", log)
		}
	}
}

// A server with another certificate does not receive the secret.
func TestAnImpostorLearnsNothing(t *testing.T) {
	_, own := makeKeys(t)
	pair, err := certs.New("impostor")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := tls.X509KeyPair([]byte(pair.Cert), []byte(pair.Key))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	go func() {
		defer close(heard)
		plain, err := l.Accept()
		if err != nil {
			return
		}
		defer plain.Close()
		plain.SetDeadline(time.Now().Add(limit))
		fmt.Fprintf(plain, "INFO {\"tls_required\":true,\"max_payload\":%d}\r\n", maxPayload)
		said, _ := io.ReadAll(tls.Server(plain, &tls.Config{Certificates: []tls.Certificate{cert}}))
		heard <- string(said)
	}()
	conn, err := Connect("tls://"+l.Addr().String(), own, nats.Timeout(limit))
	if err == nil {
		conn.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "or somebody else answers there") {
		t.Errorf("it is taken for the control plane: %v", err)
	}
	l.Close()
	if said := <-heard; said != "" {
		t.Errorf("it hears %q", said)
	}
}

// A server listens on the loopback address by default, even with keys.
func TestServeListensHere(t *testing.T) {
	for _, keys := range []string{"", "keys"} {
		if at, err := listenAddress(&ServerConfig{Keys: keys}); err != nil || !at.Addr().IsLoopback() {
			t.Errorf("with keys %q it listens at %v, %v", keys, at, err)
		}
	}
}

// A server without keys listens only on a loopback address.
func TestServeWithoutKeys(t *testing.T) {
	for listen, says := range map[string]string{
		"0.0.0.0:0":         "make keys (`orchestrator hosts keys DIR`)",
		":0":                "make keys (`orchestrator hosts keys DIR`)",
		"10.0.0.5:4222":     "only on a loopback address",
		"[::]:0":            "only on a loopback address",
		"127.0.0.1":         "is not an address with a port",
		"127.0.0.1:x":       `there is no port "x"`,
		"127.0.0.1:9999999": "there is no port",
		"control:4222":      "is not an IP address of this machine",
	} {
		s, err := Serve(ServerConfig{Listen: listen})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, not %q", listen, err, says)
		}
	}
	s, err := Serve(ServerConfig{Listen: "localhost:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if second, err := Serve(ServerConfig{Listen: s.Addr()}); err == nil {
		second.Close()
		t.Error("two servers listen at one address")
	}
	join(t, s, "")
}

// A server refuses keys that are incomplete, or that other users can read.
func TestServeWithSpoiltKeys(t *testing.T) {
	other, _ := makeKeys(t)
	for says, spoil := range map[string]func(lab, control string) error{
		"there is no folder":               func(lab, _ string) error { return os.RemoveAll(filepath.Dir(lab)) },
		"lab.key: no such file":            func(lab, _ string) error { return os.Remove(lab) },
		"is not the key of a lab":          func(lab, _ string) error { return os.Truncate(lab, 40) },
		"control.key: no such file":        func(_, control string) error { return os.Remove(control) },
		"(its mode is 0644): chmod 600":    func(_, control string) error { return os.Chmod(control, 0o644) },
		"(its mode is 0660): chmod 600":    func(lab, _ string) error { return os.Chmod(lab, 0o660) },
		"has no certificate to serve with": func(_, control string) error { return os.Truncate(control, 40) },
		"has the certificate of another lab": func(_, control string) error {
			return os.Rename(filepath.Join(other, ControlFile), control)
		},
	} {
		dir, lab := makeKeys(t)
		if err := spoil(lab, filepath.Join(dir, ControlFile)); err != nil {
			t.Fatal(err)
		}
		s, err := Serve(ServerConfig{Listen: "127.0.0.1:0", Keys: dir})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it says %v, not %q", err, says)
		}
	}
}

// Many connections that send nothing, nonsense before TLS, or large messages leave the server able to serve.
func TestFlood(t *testing.T) {
	dir, own := makeKeys(t)
	s, _ := serve(t, dir)
	for i := range 200 {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			fmt.Fprintf(c, "CONNECT {}\r\nPUB ts.host.a.order %d\r\n%s", 1<<30, strings.Repeat("x", 10_000))
		}
	}
	a := join(t, s, own)
	if err := a.Publish("x", make([]byte, maxPayload+1)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("a large message: %v", err)
	}
	for range 500 {
		if err := a.Publish("x", make([]byte, 64<<10)); err != nil {
			t.Fatal(err)
		}
	}
	b, me := join(t, s, own), join(t, s, own)
	if _, err := b.Subscribe("ts.host.b.order", func(m *nats.Msg) { m.Respond(nil) }); err != nil {
		t.Fatal(err)
	}
	if err := b.FlushTimeout(limit); err != nil {
		t.Fatal(err)
	}
	if _, err := me.Request("ts.host.b.order", nil, limit); err != nil {
		t.Errorf("after the flood: %v", err)
	}
}

// makeKeys makes the key of a lab, and returns the folder and the path of the key.
func makeKeys(t *testing.T) (dir, lab string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "keys")
	if made, err := Make(dir); err != nil || !made {
		t.Fatalf("it has made keys: %v, %v", made, err)
	}
	return dir, filepath.Join(dir, LabFile)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// write writes a file that only this user can read, and returns its path.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A folder of keys is for this user only, and only the server's file has the private key. No call changes an
// existing file.
func TestMake(t *testing.T) {
	dir, lab := makeKeys(t)
	control := filepath.Join(dir, ControlFile)
	for path, mode := range map[string]os.FileMode{dir: 0o700, lab: 0o600, control: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
		}
	}
	secret, private := read(t, lab), read(t, control)
	if strings.Contains(secret, "PRIVATE") || !strings.Contains(private, "PRIVATE KEY") {
		t.Errorf("the private key of the server is not where it belongs:\n%s", secret)
	}
	if made, err := Make(dir); made || err != nil {
		t.Errorf("keys that are there are made again: %v, %v", made, err)
	}
	if _, other := makeKeys(t); read(t, other) == secret {
		t.Error("two labs have one key")
	}
	for _, lost := range []string{lab, control} {
		if err := os.Rename(lost, lost+".kept"); err != nil {
			t.Fatal(err)
		}
		if _, err := Make(dir); err == nil || !strings.Contains(err.Error(), "put the other back") {
			t.Errorf("without %s: %v", lost, err)
		}
		if err := os.Rename(lost+".kept", lost); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, lab) != secret || read(t, control) != private {
		t.Error("a key has changed")
	}
	if _, err := Make(lab); err == nil {
		t.Error("a file is a folder of keys")
	}
}
