package zookeeper

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"turnstile/internal/proc"
)

// common is the Java that all programs use.
//
//go:embed Clients.java
var common []byte

// compiled returns a folder with the classes of a Java program. It compiles the program the first time, and
// again if the source, the compiler or a jar has changed: that takes seconds, and a run has many clients. If
// several clients begin at once, one compiles and the others wait.
func compiled(ctx context.Context, name string, source []byte) (dir string, err error) {
	javac, err := compiler()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%s\n%s\n", source, common, javac, strings.Join(resolved(), "\n"))
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, name+"-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	lock, err := os.OpenFile(dir+".lock", os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close() // which also gives the lock back
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	fresh, err := os.MkdirTemp(cache, ".fresh-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	args := []string{"-nowarn", "--release", "17", "-cp", classPath(), "-d", fresh}
	for class, text := range map[string][]byte{name: source, "Clients": common} {
		file := filepath.Join(fresh, class+".java")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return "", err
		}
		args = append(args, file)
	}
	cmd := exec.CommandContext(ctx, javac, args...)
	if says, err := proc.Output(cmd, true); err != nil {
		return "", fmt.Errorf("compiling the client of Curator: %w: %s", err, says)
	}
	return dir, os.Rename(fresh, dir) // the folder appears whole or not at all
}

// compiler returns the path of the compiler that belongs to the program java.
func compiler() (string, error) {
	java, err := exec.LookPath("java")
	if err == nil {
		java, err = filepath.EvalSymlinks(java)
	}
	javac := filepath.Join(filepath.Dir(java), "javac")
	if err == nil {
		_, err = os.Stat(javac)
	}
	return javac, err
}

// resolved returns the jars without links: their names have their versions.
func resolved() (all []string) {
	for _, jar := range slices.Concat(curatorJars, jars) {
		if path, err := filepath.EvalSymlinks(jar); err == nil {
			jar = path
		}
		all = append(all, jar)
	}
	return all
}

func classPath() string { return strings.Join(slices.Concat(curatorJars, jars), ":") }

// cacheFolder returns a folder for compiled programs, to which only this user can write: in the cache of the
// user or, if that cannot be written, in the folder of temporary files.
func cacheFolder() (string, error) {
	places := []string{filepath.Join(os.TempDir(), fmt.Sprintf("turnstile-curator-%d", os.Geteuid()))}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append([]string{filepath.Join(cache, "turnstile-curator")}, places...)
	}
	var errs []error
	for _, dir := range places {
		err := os.MkdirAll(dir, 0o700)
		var s unix.Stat_t
		if err == nil {
			err = unix.Lstat(dir, &s)
		}
		switch {
		case err != nil:
		case s.Mode&unix.S_IFMT != unix.S_IFDIR || int(s.Uid) != os.Geteuid() || s.Mode&0o022 != 0:
			err = fmt.Errorf("%s is not a folder to which only this user can write", dir)
		default:
			if err = unix.Access(dir, unix.W_OK); err == nil {
				return dir, nil
			}
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("there is no folder for the compiled client of Curator: %w", errors.Join(errs...))
}
