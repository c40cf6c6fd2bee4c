package service

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// findsOwners says that ownerOf works here.
const findsOwners = true

// ownerOf returns which of some processes, by their IDs, has the socket that is connected from one address to
// another of this machine; 0: none of them. It looks with the rights of their user, nil for this one, since
// the kernel says of processes of others what they have open only to those that may trace them.
func ownerOf(from, to netip.AddrPort, pids []int, as *owner) (pid int, err error) {
	inode, err := inodeOf(from, to)
	if err != nil || inode == "" {
		return 0, err
	}
	if as != nil {
		runtime.LockOSThread()
		if err := filesAs(as.uid, as.gid); err != nil {
			return 0, err // and the thread ends with the goroutine
		}
		defer func() {
			if err = filesAs(uint32(os.Geteuid()), uint32(os.Getegid())); err == nil {
				runtime.UnlockOSThread()
			}
		}()
	}
	return havingOpen("socket:["+inode+"]", pids), nil
}

// filesAs has this thread have the rights of a user and a group as far as files are concerned.
func filesAs(uid, gid uint32) error {
	return errors.Join(unix.Setfsgid(int(gid)), unix.Setfsuid(int(uid)))
}

// havingOpen returns which of some processes has a file open; 0: none of them.
func havingOpen(file string, pids []int) int {
	for _, pid := range pids {
		dir := fmt.Sprintf("/proc/%d/fd", pid)
		all, _ := os.ReadDir(dir) // of one that has ended
		for _, fd := range all {
			if target, _ := os.Readlink(filepath.Join(dir, fd.Name())); target == file {
				return pid
			}
		}
	}
	return 0
}

// inodeOf returns that of the socket that is connected from one address to another; empty: there is none.
func inodeOf(from, to netip.AddrPort) (string, error) {
	for _, table := range []struct {
		path string
		name func(netip.AddrPort) string
	}{{"/proc/net/tcp", hex4}, {"/proc/net/tcp6", hex6}} {
		f, err := os.Open(table.path)
		if errors.Is(err, os.ErrNotExist) { // no IPv6
			continue
		} else if err != nil {
			return "", err
		}
		inode := find(f, table.name(from), table.name(to))
		if err := f.Close(); err != nil || inode != "" {
			return inode, err
		}
	}
	return "", nil
}

// find looks for a line of a table of sockets. Its words are a number, two addresses, the state, two queues,
// a timer, retries, the user, a time, and the inode: 0 once the socket is closed.
func find(f *os.File, from, to string) string {
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) > 9 && words[1] == from && words[2] == to && words[9] != "0" {
			return words[9]
		}
	}
	return ""
}

// hex4 writes an IPv4 address as /proc/net/tcp does, and hex6 as /proc/net/tcp6 does, which has those of
// programs that use one socket for both, such as Java.
func hex4(a netip.AddrPort) string {
	ip := a.Addr().Unmap().As4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(ip[:]), a.Port())
}

func hex6(a netip.AddrPort) string {
	ip, text := a.Addr().As16(), ""
	for i := 0; i < len(ip); i += 4 {
		text += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(ip[i:]))
	}
	return fmt.Sprintf("%s:%04X", text, a.Port())
}
