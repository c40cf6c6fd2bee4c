package local

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// keeper is the process that keeps the file of a run's lock, and removes it with its folder in the end. It
// tells clients where the file is, and takes no part in the lock.
var keeper = service.Servers{Ports: 1, Run: keep, NoClock: service.GoClock, Versioned: kernel,
	OnlyHere: "its clients share a file that the run makes",
	Count:    func(service.Values) int { return 1 },
	Command:  func(m *service.Member) (args, env []string) { return []string{m.Dir, m.Address(0)}, nil },
	Ready: func(ctx context.Context, m *service.Member) error {
		_, err := ask(ctx, m.Address(0), "turnstile/ready/")
		return err
	}}

// asking is how long a keeper may take to answer.
const asking = 5 * time.Second

// mapped is how many bytes a file of a lock has: one page.
const mapped = 4096

// keep serves clients at an address until the context ends: each writes the prefix of its run, and is told
// the file of that.
func keep(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("a keeper takes its folder and its address")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", args[1])
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		go tell(conn, args[0])
	}
}

// tell answers one client: with the path of its file, or with an error, which has a space.
func tell(conn net.Conn, dir string) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(asking))
	prefix, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	path := filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(prefix))))
	if err := lay(path); err != nil {
		fmt.Fprintln(conn, "error", err)
		return
	}
	fmt.Fprintln(conn, path)
}

// lay makes the file of a lock, with zeros, unless it is there.
func lay(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(mapped), f.Close())
}

// ask returns the file of a run, as the keeper at an address has it.
func ask(ctx context.Context, address, prefix string) (path string, err error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(asking))
	if _, err := fmt.Fprintln(conn, prefix); err != nil {
		return "", err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	switch answer = strings.TrimSpace(answer); {
	case err != nil:
		return "", fmt.Errorf("what answers at %s keeps no file of a lock: %w", address, err)
	case !filepath.IsAbs(answer):
		return "", fmt.Errorf("the keeper at %s: %s", address, answer)
	}
	return answer, nil
}

// openFile opens the file of the lock of a run.
func openFile(ctx context.Context, s program.Setting) (*os.File, error) {
	path, err := ask(ctx, s.Options.Servers[0], s.Options.Prefix)
	if err != nil {
		return nil, fmt.Errorf("asking for the file of the lock: %w", err)
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}
