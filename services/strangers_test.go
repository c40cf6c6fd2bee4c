package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"

	"turnstile/bench/service"
	"turnstile/internal/certs"
	"turnstile/internal/secret"
	"turnstile/nodes/foreign/program"
	"turnstile/services/redisd"
	"turnstile/services/servicetest"
)

// A try is what a stranger tries at the address of a server. It returns nil if the server lets it.
type try func(ctx context.Context, address string) error

// tries has what strangers try, by the name of a service, and its options.
var tries = []struct {
	service string
	words   []string
	all     map[string]try
}{
	{"redis", []string{"replica=on"}, map[string]try{"flushall": flushAll("")}},
	{"redlock", nil, map[string]try{"flushall with another password": flushAll("guessed")}},
	{"nats-kv", []string{"members=3"}, map[string]try{"connect": natsWith(""),
		"connect with a token": natsWith("guessed")}},
	{"etcd", []string{"members=3"}, map[string]try{"put": putWith(false),
		"put with another certificate": putWith(true)}},
	{"postgres", []string{"standby=on"}, map[string]try{"select": selectAs("turnstile"),
		"replicate": replicate}},
	{"postgres", []string{"pooler=session"}, map[string]try{"select": selectAs("turnstile"),
		"select as another user": selectAs("postgres"), "shut PgBouncer down": selectAs("pgbouncer")}},
	{"zookeeper", []string{"members=3"}, map[string]try{"create": zookeeperWith(""),
		"create with another password": zookeeperWith("guessed")}},
}

func flushAll(password string) try {
	return func(ctx context.Context, address string) error {
		c := redisd.Dial(address, password)
		defer c.Close()
		return c.FlushAll(ctx).Err()
	}
}

func natsWith(token string) try {
	return func(_ context.Context, address string) error {
		c, err := nats.Connect("nats://"+address, nats.Token(token))
		if err == nil {
			c.Close()
		}
		return err
	}
}

// putWith tries to put by the gateway of etcd for HTTP, without or with a certificate.
func putWith(certified bool) try {
	return func(ctx context.Context, address string) error {
		of := &tls.Config{InsecureSkipVerify: true}
		if certified {
			other, err := certs.New("stranger")
			if err != nil {
				return err
			}
			pair, err := tls.X509KeyPair([]byte(other.Cert), []byte(other.Key))
			if err != nil {
				return err
			}
			of.Certificates = []tls.Certificate{pair}
		}
		r, err := http.NewRequestWithContext(ctx, "POST", "https://"+address+"/v3/kv/put",
			strings.NewReader(`{"key":"dHVybnN0aWxl","value":"bWluZQ=="}`))
		if err != nil {
			return err
		}
		a, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: of}}).Do(r)
		if err == nil {
			a.Body.Close()
		}
		return err
	}
}

func selectAs(user string) try {
	return func(ctx context.Context, address string) error {
		database := "postgres"
		if user == "pgbouncer" {
			database = user
		}
		c, err := pgx.Connect(ctx, "postgres://"+user+":guessed@"+address+"/"+database+"?sslmode=disable")
		if err != nil {
			return err
		}
		return c.Close(ctx)
	}
}

func replicate(ctx context.Context, address string) error {
	c, err := pgx.Connect(ctx, "postgres://turnstile@"+address+"/postgres?sslmode=disable&replication=true")
	if err != nil {
		return err
	}
	return c.Close(ctx)
}

// zookeeperWith tries to create, read, change and delete: at all places that are there from the start, and in
// the lock.
func zookeeperWith(password string) try {
	return func(ctx context.Context, address string) error {
		c, events, err := zk.Connect([]string{address}, time.Second, zk.WithLogInfo(false))
		if err != nil {
			return err
		}
		defer c.Close()
		for e := range events {
			if e.State == zk.StateHasSession {
				break
			}
		}
		if password != "" {
			if err := c.AddAuth("digest", []byte(secret.User+":"+password)); err != nil {
				return err
			}
		}
		for _, at := range []string{"", "/zookeeper", "/zookeeper/quota", "/test", "/test/lock"} {
			_, creates := c.Create(at+"/stranger", nil, 0, zk.WorldACL(zk.PermAll))
			_, lets := c.SetACL("/"+strings.TrimPrefix(at, "/"), zk.WorldACL(zk.PermAll), -1)
			_, _, lists := c.Children("/" + strings.TrimPrefix(at, "/"))
			for _, err := range []error{creates, lets, lists, c.Delete("/test/lock", -1)} {
				if !errors.Is(err, zk.ErrNoAuth) {
					return err
				}
			}
		}
		return zk.ErrNoAuth
	}
}

// strange is the variable by which a test tells a process of its program that it is a stranger: the number of
// its row in tries, the folder of the secret, and the addresses of the servers.
const strange = "TURNSTILE_TEST_STRANGER"

// No server of a run serves a process without the secret, whatever user it is of. No other user can read the
// secret, and no command line has it. Meanwhile a holder with the secret keeps its lock.
func TestStrangers(t *testing.T) {
	if words := strings.Fields(os.Getenv(strange)); len(words) > 0 {
		beStranger(t, words[0], words[1], words[2:])
		return
	}
	stranger := copyOf(t)
	for i, x := range tries {
		t.Run(fmt.Sprint(x.service, x.words), func(t *testing.T) {
			s := all[slices.IndexFunc(all, func(s *service.Service) bool { return s.Name == x.service })]
			r := servicetest.Start(t, s, x.words...)
			setting := servicetest.Setting("n0", r.Addresses...)
			l, err := s.Open(t.Context(), setting, servicetest.Values(t, s, x.words...))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			servicetest.Acquire(t, l, 10*time.Second)
			cmd := exec.CommandContext(t.Context(), stranger, "-test.run=^TestStrangers$", "-test.v")
			cmd.Dir, cmd.Env = "/", append(os.Environ(), fmt.Sprintf("%s=%d %s %s", strange, i, r.Secrets,
				strings.Join(r.Addresses, " ")))
			if os.Geteuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("refused: ")) {
				t.Errorf("a stranger: %v\n%s", err, out)
			}
			t.Logf("%s", out)
			hidden(t, r)
			if err := l.Release(t.Context()); err != nil && !errors.Is(err, program.ErrLost) {
				t.Errorf("the holder releases the lock: %v", err)
			}
		})
	}
}

// beStranger is a stranger: it fails the test if a server serves it, or if it can read the secret.
func beStranger(t *testing.T, row, secrets string, servers []string) {
	var i int
	fmt.Sscan(row, &i)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for name, do := range tries[i].all {
		for _, address := range servers {
			err := do(ctx, address)
			if err == nil || ctx.Err() != nil {
				t.Errorf("%s at %s: it is not refused within 20 s (%v)", name, address, err)
			} else {
				t.Logf("%s at %s is refused: %v", name, address, err)
			}
		}
	}
	for _, dir := range []string{secrets, filepath.Join(filepath.Dir(secrets), "0")} {
		if _, err := os.ReadDir(dir); os.Geteuid() == 65534 && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("another user can read %s: %v", dir, err)
		}
	}
}

// copyOf returns the path of this program in a folder that all users can read.
func copyOf(t *testing.T) string {
	dir, err := os.MkdirTemp("", "stranger")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(own)
	path := filepath.Join(dir, "stranger")
	if err := errors.Join(err, os.WriteFile(path, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// hidden fails the test if a process has the secret in its command line, or others than its user can read it.
func hidden(t *testing.T, r *service.Running) {
	t.Helper()
	own, err := secret.Read(r.Secrets)
	if err != nil {
		t.Fatal(err)
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if line, _ := os.ReadFile(path); bytes.Contains(line, []byte(own.Password)) {
			t.Errorf("%s has the password: %q", path, line)
		}
	}
	err = filepath.WalkDir(filepath.Dir(r.Secrets), func(path string, d fs.DirEntry, err error) error {
		info, wrong := os.Lstat(path)
		if err != nil || wrong != nil {
			return nil // the servers go on
		}
		if d.IsDir() && path != filepath.Dir(r.Secrets) && info.Mode().Perm() != 0o700 {
			t.Errorf("the folder %s has the mode %v", path, info.Mode())
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(own.Password)) &&
			info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the password, and the mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, address := range r.Addresses {
		if host, _, err := net.SplitHostPort(address); err != nil || host != "127.0.0.1" {
			t.Errorf("a server is at %s", address)
		}
	}
}
