package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"turnstile/hosts/cluster"
	"turnstile/internal/proc"
	"turnstile/internal/secret"
	"turnstile/internal/terminal"
)

// Servers defines how the servers of a service are started. Its functions are called one at a time.
type Servers struct {
	Members []int    // allowed numbers of servers, the default first; empty: see Count
	Ports   int      // ports per member: the first for clients, the others for other members
	Program string   // name of the program in PATH
	Folders []string // folders of packages with the program, as patterns for path/filepath.Glob
	Package string   // Debian package that has the program
	// Count returns the number of servers, if other options decide it; nil: see Members.
	Count func(Values) int
	// Of returns how to start a member that runs another program, such as a proxy between clients and a server.
	// Its result has the same Ports and NoClock. If Of is nil, or returns nil, the member is like the others.
	Of func(v Values, number int) *Servers
	// InTurn starts each member only once the members before it serve.
	InTurn bool
	// Needs returns other files that the program needs; nil: none.
	Needs func(program string) []string
	// VersionArgs are the arguments by which the program prints its version. The first group of Version matches
	// the version.
	VersionArgs []string
	Version     *regexp.Regexp

	// Run runs a server within this program, with the arguments of Command, until the context ends; nil: the
	// server is another program. Versioned returns the version of the servers within this program.
	Run       func(ctx context.Context, args []string) error
	Versioned func() string

	// Prepare fills the empty folder of a member before its first start; nil: it stays empty.
	Prepare func(ctx context.Context, m *Member) error
	// Command returns the arguments and environment variables of the program.
	Command func(m *Member) (args, env []string)
	// Ready returns nil once a member serves clients. It is called until then.
	Ready func(ctx context.Context, m *Member) error
	// Leader returns the member that leads, or -1; nil: no member ever leads.
	Leader func(ctx context.Context, all []*Member) (int, error)
	// Promote promotes a standby to primary; nil: the service has no standbys.
	Promote func(ctx context.Context, m *Member) error
	// Recovers is how long the service may take to serve again once more than half of the servers are up and
	// connected, including the time for clients to reconnect; 0: unknown.
	Recovers time.Duration
	// NoClock explains why libfaketime cannot set the clock of a server; empty: it can, since the program asks
	// libc for the time.
	NoClock string
	// OnlyHere explains why clients cannot use external servers; empty: they can.
	OnlyHere string
	// Stop is the signal that shuts a server down; 0: SIGTERM.
	Stop syscall.Signal
	// Settings are the settings that differ from the documented defaults.
	Settings []Setting
	// Limit is how long a member may take until it serves, without waits for processors; 0: 20 s.
	Limit time.Duration
}

// A Member is one server.
type Member struct {
	Number  int
	Program string // path of its program
	Dir     string // its own folder
	Values  Values
	Ports   []int
	All     []*Member
	Secret  *secret.Secret // what the servers demand of their clients

	group   *group
	servers *Servers // how the member is started
	held    []*cluster.Port
	fronts  []string      // addresses of the fronts of the ports from 1 on; nil: no fronts
	process *proc.Process // nil: the member was never started
	guard   *proc.Guard   // nil: the member is not suspended, or has no child processes
	ahead   time.Duration // how far its clock is ahead of the machine's clock

	suspended atomic.Bool // an order has suspended it
}

// Started reports whether the member was started before.
func (m *Member) Started() bool { return m.process != nil }

// Address returns the address of a port of the member: host:port.
func (m *Member) Address(port int) string { return fmt.Sprintf("127.0.0.1:%d", m.Ports[port]) }

// Peer returns the address at which other members reach a port of the member: host:port. Port 0 is for
// clients.
func (m *Member) Peer(port int) string {
	if port > 0 && m.fronts != nil {
		return m.fronts[port-1]
	}
	return m.Address(port)
}

// Reach returns the address at which the member reaches a port of another member: host:port. If other is the
// member itself, this is where it listens.
func (m *Member) Reach(other *Member, port int) string {
	if other == m {
		return m.Address(port)
	}
	return other.Peer(port)
}

// Run runs a program to its end, in the member's environment and folder, for Prepare. The error has the
// output of the program.
func (m *Member) Run(ctx context.Context, program string, args ...string) error {
	p, err := m.group.tools.Start(proc.Command{Name: filepath.Base(program),
		Program: append([]string{program}, args...), Env: []string{"HOME=" + m.Dir, "LC_ALL=C"}})
	if err != nil {
		return err
	}
	select {
	case <-p.Ended():
	case <-ctx.Done():
		p.Dismiss()
		<-p.Ended()
		return ctx.Err()
	}
	if fate := p.Fate(); !fate.Well {
		return fmt.Errorf("%s %s", program, fate.Says)
	}
	return nil
}

// Write writes a file of the member's folder, for Prepare. Only the member and programs of Run can read it.
// Write returns the path of the file.
func (m *Member) Write(name, text string) (path string, err error) {
	path = m.File(name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	return path, m.group.give(m, &nobody)
}

// File returns the path of a file of the member's folder.
func (m *Member) File(name string) string { return filepath.Join(m.Dir, name) }

// First returns a function that finds the first member that says it leads, or -1. A member that is down or
// suspended does not answer.
func First(leads func(context.Context, *Member) bool) func(context.Context, []*Member) (int, error) {
	return func(ctx context.Context, all []*Member) (int, error) {
		return slices.IndexFunc(all, func(m *Member) bool { return leads(ctx, m) }), nil
	}
}

// count returns the number of servers.
func (s *Servers) count(v Values) int {
	if s.Count != nil {
		return s.Count(v)
	}
	return v.Int(Members)
}

// of returns how a member is started.
func (s *Servers) of(v Values, number int) *Servers {
	if s.Of != nil {
		if other := s.Of(v, number); other != nil {
			return other
		}
	}
	return s
}

// promotes reports whether one of the servers can be promoted.
func (s *Servers) promotes(v Values) bool {
	same := 0
	for i := range s.count(v) {
		if s.of(v, i) == s {
			same++
		}
	}
	return s.Promote != nil && same > 1
}

// Find returns the path of the server's program: given if set, or else found in PATH or in the folders of
// packages. The error says what to install.
func (s *Servers) Find(given string) (string, error) {
	path, err := s.find(given)
	if err != nil || s.Needs == nil {
		return path, err
	}
	for _, file := range s.Needs(path) {
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("%s needs %s, which is missing: install the Debian package %s", path, file,
				s.Package)
		}
	}
	return path, nil
}

func (s *Servers) find(given string) (string, error) {
	switch {
	case s.Run != nil && given != "":
		return "", errors.New("--server-program: the server is within this program: leave it out")
	case s.Run != nil:
		return terminal.OwnPath(), nil
	}
	if given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", fmt.Errorf("the server program %s: %w", given, err)
		}
		return filepath.Abs(path)
	}
	if path, err := exec.LookPath(s.Program); err == nil {
		return path, nil
	}
	for _, pattern := range s.Folders {
		found, err := filepath.Glob(filepath.Join(pattern, s.Program))
		if err == nil && len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return "", fmt.Errorf("there is no program %s in PATH: install the Debian package %s, or say where it is "+
		"with --server-program", s.Program, s.Package)
}

// Paths returns the paths of the programs of all members. Given is the path of the servers' program; empty:
// Paths looks for it. The error says what to install.
func (s *Servers) Paths(v Values, given string) (all []string, err error) {
	for i := range s.count(v) {
		of, path := s.of(v, i), ""
		if of == s {
			path, err = s.Find(given)
		} else {
			path, err = of.Find("")
		}
		if err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}

// versions returns the version of the servers' program, given the paths of all members, followed by the names
// and versions of other programs, as in "15.9, pgbouncer 1.18.0".
func (s *Servers) versions(ctx context.Context, v Values, paths []string) (string, error) {
	var all []string
	for i, path := range paths {
		of := s.of(v, i)
		if of == s && i > 0 { // members of the same program have the same version
			continue
		}
		version, err := of.version(ctx, path)
		if err != nil {
			return "", err
		}
		if of != s {
			version = of.Program + " " + version
		}
		all = append(all, version)
	}
	return strings.Join(all, ", "), nil
}

// version returns the version of a program.
func (s *Servers) version(ctx context.Context, path string) (string, error) {
	if s.Versioned != nil {
		return s.Versioned(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, s.VersionArgs...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := proc.Output(cmd, true)
	found := s.Version.FindSubmatch(out)
	if found == nil {
		says := "it printed " + cmp.Or(strings.TrimSpace(string(out)), "nothing")
		if err != nil {
			says = err.Error() + ", and " + says
		}
		return "", fmt.Errorf("%s does not say its version by %s: is it another program? %s", path,
			strings.Join(s.VersionArgs, " "), says)
	}
	return string(found[1]), nil
}
