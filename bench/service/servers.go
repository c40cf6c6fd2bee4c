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
	"syscall"
	"time"

	"turnstile/bench/cluster"
	"turnstile/internal/proc"
	"turnstile/internal/terminal"
)

// Servers says how the servers of a service are started. The functions are called by one goroutine.
type Servers struct {
	Members []int    // how many there may be; the first is the default; empty: Count says it
	Ports   int      // of each member; the first is that of clients, and others those of the other members
	Program string   // its name in PATH
	Folders []string // where packages put it beside that; patterns of path/filepath.Glob
	Package string   // the Debian package that has it
	// Count returns how many there are, if no option of its own says it.
	Count func(Values) int
	// Of returns how a member is started that is no server of the same kind, such as one that stands between
	// clients and a server; nil, or if it returns nil: as these are. It has as many ports, and clocks.
	Of func(v Values, number int) *Servers
	// InTurn says that each member is prepared and started once those before it serve.
	InTurn bool
	// Needs returns the files that a program cannot do without; nil: there are none.
	Needs func(program string) []string
	// VersionArgs make the program print its version, and Version finds it there: the first group.
	VersionArgs []string
	Version     *regexp.Regexp

	// Run runs a server within this program, with the arguments of Command, until the context ends, for a
	// service that needs no other program. Versioned is the version of that.
	Run       func(ctx context.Context, args []string) error
	Versioned func() string

	// Prepare fills the empty folder of a member before it starts for the first time; nil: it stays empty.
	Prepare func(ctx context.Context, m *Member) error
	// Command returns the arguments of the program and variables for it.
	Command func(m *Member) (args, env []string)
	// Ready returns nil once a member serves clients. It is called again until then.
	Ready func(ctx context.Context, m *Member) error
	// Leader returns the member that leads, or -1; nil: none ever does.
	Leader func(ctx context.Context, all []*Member) (int, error)
	// Promote has a standby become the first; nil: there are no standbys.
	Promote func(ctx context.Context, m *Member) error
	// Recovers is how long they may take to serve again once more than half are up and reach each other, clients
	// that have to connect again included; 0: nothing is known of that.
	Recovers time.Duration
	// NoClock says why libfaketime cannot set the clock of a server; empty: it can, since the program asks libc
	// for the time.
	NoClock string
	// OnlyHere says why clients cannot use servers that run already; empty: they can.
	OnlyHere string
	// Stop is the signal that ends a server well; 0: SIGTERM.
	Stop syscall.Signal
	// Settings are those that are not the defaults of their documentation.
	Settings []Setting
	// Limit is how long it may take until a member serves; 0: 20 s.
	Limit time.Duration
}

// A Member is one server.
type Member struct {
	Number  int
	Program string // its path
	Dir     string // its own folder
	Values  Values
	Ports   []int
	All     []*Member

	group   *group
	servers *Servers // how it is started
	held    []*cluster.Port
	fronts  []string      // addresses of those of the ports from 1; empty: there are none
	process *proc.Process // nil: it was never started
	guard   *proc.Guard   // nil: it does not stand still, or has started no processes
	ahead   time.Duration // of the clock of the machine
}

// Started reports whether the member was started before.
func (m *Member) Started() bool { return m.process != nil }

// Address returns where a port of the member is: host:port.
func (m *Member) Address(port int) string { return fmt.Sprintf("127.0.0.1:%d", m.Ports[port]) }

// Peer returns where all other members reach a port of the member: host:port. Port 0 is that of clients.
func (m *Member) Peer(port int) string {
	if port > 0 && m.fronts != nil {
		return m.fronts[port-1]
	}
	return m.Address(port)
}

// Reach returns where the member reaches a port of another one, or listens, if that is itself: host:port.
func (m *Member) Reach(other *Member, port int) string {
	if other == m {
		return m.Address(port)
	}
	return other.Peer(port)
}

// Run runs a program to its end, in the place of the member and as its user: for Prepare. The error has what
// the program printed.
func (m *Member) Run(ctx context.Context, program string, args ...string) error {
	p, err := m.group.launcher.Start(proc.Command{Name: filepath.Base(program),
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

// First returns a function that finds the first member that leads, by what it says itself; -1: none does. One
// that is down or stands still does not say so.
func First(leads func(context.Context, *Member) bool) func(context.Context, []*Member) (int, error) {
	return func(ctx context.Context, all []*Member) (int, error) {
		return slices.IndexFunc(all, func(m *Member) bool { return leads(ctx, m) }), nil
	}
}

// count returns how many servers there are.
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

// promotes reports whether one of the servers can become the first.
func (s *Servers) promotes(v Values) bool {
	same := 0
	for i := range s.count(v) {
		if s.of(v, i) == s {
			same++
		}
	}
	return s.Promote != nil && same > 1
}

// Find returns the path of the server's program: the one given, or else the one in PATH or where packages put
// it. The error says what to install.
func (s *Servers) Find(given string) (string, error) {
	path, err := s.find(given)
	if err != nil || s.Needs == nil {
		return path, err
	}
	for _, file := range s.Needs(path) {
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("%s needs %s, which is not there: install the Debian package %s", path, file,
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

// Paths returns those of the programs of all members. Given is that of the servers; empty: it is looked for.
// The error says what to install.
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

// versions returns the version of the servers' program, given the paths of all members, and after it the
// names and versions of others, as in "15.9, pgbouncer 1.18.0".
func (s *Servers) versions(ctx context.Context, v Values, paths []string) (string, error) {
	var all []string
	for i, path := range paths {
		of := s.of(v, i)
		if of == s && i > 0 { // all have one
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
