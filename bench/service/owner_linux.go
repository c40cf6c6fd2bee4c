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

// findsOwners reports whether ownerOf works on this system.
const findsOwners = true

// ownerOf returns which of some processes owns the socket that is connected from one address to another on
// this machine; 0: no process does. It looks at open files as the user in the last argument; nil: as this
// process's user. The kernel shows the open files of other users' processes only to users with the right to
// trace them.
func ownerOf(from, to netip.AddrPort, pids []int, as *owner) (pid int, err error) {
	inode, err := inodeOf(from, to)
	if err != nil || inode == "" {
		return 0, err
	}
	if as != nil {
		runtime.LockOSThread()
		if err := filesAs(as.uid, as.gid); err != nil {
			return 0, err // the locked thread ends with the goroutine
		}
		defer func() {
			if err = filesAs(uint32(os.Geteuid()), uint32(os.Getegid())); err == nil {
				runtime.UnlockOSThread()
			}
		}()
	}
	return havingOpen("socket:["+inode+"]", pids), nil
}

// filesAs gives this thread the file access rights of a user and a group.
func filesAs(uid, gid uint32) error {
	return errors.Join(unix.Setfsgid(int(gid)), unix.Setfsuid(int(uid)))
}

// havingOpen returns which of some processes has a file open; 0: no process has it open.
func havingOpen(file string, pids []int) int {
	for _, pid := range pids {
		dir := fmt.Sprintf("/proc/%d/fd", pid)
		all, _ := os.ReadDir(dir) // empty if the process has ended
		for _, fd := range all {
			if target, _ := os.Readlink(filepath.Join(dir, fd.Name())); target == file {
				return pid
			}
		}
	}
	return 0
}

// inodeOf returns the inode of the socket that is connected from one address to another, or "".
func inodeOf(from, to netip.AddrPort) (string, error) {
	for _, table := range []struct {
		path string
		name func(netip.AddrPort) string
	}{{"/proc/net/tcp", hex4}, {"/proc/net/tcp6", hex6}} {
		f, err := os.Open(table.path)
		if errors.Is(err, os.ErrNotExist) { // the kernel has no IPv6
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

// find finds the inode of a socket in a table. The words of a line are a number, two addresses, the state,
// two queues, a timer, retries, the user, a time, and the inode, which is 0 once the socket is closed.
func find(f *os.File, from, to string) string {
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) > 9 && words[1] == from && words[2] == to && words[9] != "0" {
			return words[9]
		}
	}
	return ""
}

// hex4 formats an IPv4 address as in /proc/net/tcp, and hex6 as in /proc/net/tcp6. The latter table also
// lists the IPv4 sockets of programs that use one socket for IPv4 and IPv6, such as Java.
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
