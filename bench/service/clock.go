package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// GoClock explains why the clock of a server written in Go cannot be set.
const GoClock = "they are written in Go, which asks the kernel for the time and not libc, so libfaketime " +
	"changes nothing there"

// clockLibraries are the paths of libfaketime in packages.
var clockLibraries = []string{"/usr/lib/*/faketime/libfaketimeMT.so.1",
	"/usr/lib/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1"}

// clockLibrary returns the path of libfaketime.
func clockLibrary() (string, error) {
	for _, pattern := range clockLibraries {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0], nil
		}
	}
	return "", errors.New("libfaketime is missing: install the Debian package faketime")
}

// noClock returns why the clocks of the servers cannot be set, or "".
func (s *Servers) noClock() string {
	if s.NoClock != "" {
		return s.NoClock
	}
	if _, err := clockLibrary(); err != nil {
		return err.Error()
	}
	return ""
}

// clocks are the clocks of the members of a group, set by libfaketime. Each time a member reads its clock, it
// reads from its file by how much the clock is ahead.
type clocks struct{ library, dir string }

// setClocks allows the clocks of members to be set, with files in a folder. It must be called before the
// members start.
func (g *group) setClocks(dir string) error {
	if why := g.servers.noClock(); why != "" {
		return errors.New(why)
	}
	library, err := clockLibrary()
	if err != nil {
		return err
	}
	g.clocks = &clocks{library, dir}
	for _, m := range g.members {
		if err := g.clocks.write(m); err != nil {
			return err
		}
	}
	return nil
}

// file returns the path of the file for a member's clock.
func (c *clocks) file(m *Member) string {
	return filepath.Join(c.dir, fmt.Sprintf("clock-%d", m.Number))
}

// write replaces the file for a member's clock atomically.
func (c *clocks) write(m *Member) error {
	next := c.file(m) + ".next"
	err := os.WriteFile(next, fmt.Appendf(nil, "%+.6f\n", m.ahead.Seconds()), 0o644)
	if err == nil {
		err = os.Rename(next, c.file(m))
	}
	return err
}

// env returns the environment variables of a member that do not depend on the service.
func (g *group) env(m *Member) []string {
	env := []string{"HOME=" + m.Dir}
	if c := g.clocks; c != nil {
		// libc is preloaded second, so that its malloc is used: other mallocs, such as jemalloc, read the clock
		// before libfaketime is ready. The monotonic clock is not changed, so durations stay right.
		env = append(env, "LD_PRELOAD="+c.library+":libc.so.6", "FAKETIME_TIMESTAMP_FILE="+c.file(m),
			"FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1")
	}
	return env
}

// setClock moves the clock of a member ahead, or back if by is negative.
func (m *Member) setClock(by time.Duration) error {
	c := m.group.clocks
	if c == nil {
		return fmt.Errorf("server %d was started with the clock of the machine, which cannot be set", m.Number)
	}
	m.ahead += by
	return c.write(m)
}
