package redis

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/bench/cluster"
	"turnstile/bench/service"
	"turnstile/internal/terminal"
	"turnstile/services/servicetest"
)

// script writes a shell script as the program of servers.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "redis-server")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // servers run as somebody else
			t.Fatal(err)
		}
	}
	return path
}

// refused fails the test unless an error says each of some words, and no folder of servers is left.
func refused(t *testing.T, err error, says ...string) {
	t.Helper()
	for _, word := range says {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("the error is %v, and is to say %q", err, word)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "turnstile-servers-*")); left != nil {
		t.Errorf("folders of servers are left behind: %q", left)
	}
}

// What is wrong with servers is said in the words of their program, and nothing of them is left.
func TestServersThatDoNotStart(t *testing.T) {
	launched := func(path string) error {
		r, err := service.Launch(t.Context(), cluster.NewLauncher(),
			&service.Program{Command: []string{terminal.OwnPath()}, Name: "redis", Server: path})
		if err == nil {
			r.Close()
		}
		return err
	}
	bad := script(t, "echo it begins; echo Fatal error, no memory >&2; exit 3")
	other := &service.Program{Command: []string{terminal.OwnPath()}, Name: "redis",
		Server: script(t, "echo something else 1.0")}
	t.Setenv("TMPDIR", t.TempDir())
	if err := os.Chmod(os.Getenv("TMPDIR"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused(t, launched(bad), "server 0 did not start: exit status 3", "it begins", "Fatal error, no memory")
	_, err := other.Describe(t.Context())
	refused(t, err, "does not say its version by --version", "something else 1.0")
}

// A server whose port somebody else has taken says so.
func TestPortIsTaken(t *testing.T) {
	if _, err := Service.Servers.Find(""); err != nil {
		t.Skip(err)
	}
	r, err := service.Hold(t.Context(), cluster.NewLauncher(),
		&service.Program{Command: []string{terminal.OwnPath()}, Name: "redis"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := net.Listen("tcp", r.Addresses[0])
	if err != nil {
		t.Skip("the port is held so that nobody else can take it:", err)
	}
	defer l.Close()
	err = r.Start(t.Context(), nil, false)
	if err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("the error is %v", err)
	}
}

// A server of somebody else that speaks no Redis, or wants a password, is named before anybody asks for the
// lock.
func TestServersOfSomebodyElse(t *testing.T) {
	for answer, says := range map[string]string{
		"nonsense \x00\xff\r\n":                       "nonsense",
		"-NOAUTH Authentication required.\r\n":        "NOAUTH",
		"-WRONGPASS invalid username or password\r\n": "WRONGPASS",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				go answers(c, answer)
			}
		}()
		at := l.Addr().String()
		c := servicetest.Client(t, &Service, open, []string{at}, "x")
		err = c.reach(t.Context(), servicetest.Setting("x", at))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), at) {
			t.Errorf("%q: the error is %v", answer, err)
		}
	}
}

// answers answers whatever comes on a connection.
func answers(c net.Conn, answer string) {
	defer c.Close()
	b := make([]byte, 1<<12)
	for {
		if _, err := c.Read(b); err != nil {
			return
		}
		if _, err := c.Write([]byte(strings.Repeat(answer, 5))); err != nil {
			return
		}
	}
}
