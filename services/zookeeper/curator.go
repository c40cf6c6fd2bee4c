package zookeeper

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// mutex is the program of a client in Java, which is compiled as it starts.
//
//go:embed Mutex.java
var mutex []byte

// curatorJar is what its version is read from.
const curatorJar = "/usr/share/java/curator-recipes.jar"

// curatorJars are the parts of Curator, beside those of ZooKeeper.
var curatorJars = []string{curatorJar, "/usr/share/java/curator-framework.jar",
	"/usr/share/java/curator-client.jar", "/usr/share/java/guava.jar"}

// needsCurator says what to install if Curator is not there, or no compiler.
func needsCurator(v service.Values) error {
	if v["recipe"] != curator {
		return nil
	}
	program, err := exec.LookPath("java")
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(filepath.Dir(program), "javac"))
	}
	if err != nil {
		return fmt.Errorf("recipe=%s needs java with its compiler: install the Debian package "+
			"default-jdk-headless: %w", curator, err)
	}
	for _, jar := range append(curatorJars, jars...) {
		if _, err := os.Stat(jar); err != nil {
			return fmt.Errorf("recipe=%s needs %s, which is not there: install the Debian package "+
				"libcurator-recipes-java", curator, jar)
		}
	}
	return nil
}

// curatorVersion returns the name of Curator with its version, by that of its jar.
func curatorVersion() string {
	found, _ := filepath.Glob(strings.TrimSuffix(curatorJar, ".jar") + "-*.jar")
	if len(found) == 0 {
		return "curator"
	}
	version := strings.TrimPrefix(filepath.Base(found[0]), "curator-recipes-")
	return "curator " + strings.TrimSuffix(version, ".jar")
}

// A curatorLock is the client of a node, which has another process do what it is asked for.
type curatorLock struct {
	process *exec.Cmd
	in      io.WriteCloser
	asked   int         // how often it was asked for something
	answers chan string // closed once the process has ended
	tells   string      // the word that says that the lock is lost

	mu   sync.Mutex
	lost chan struct{} // of the latest grant; nil: it is closed, or over
	fell bool          // the lock was lost since it was last asked for
	over bool          // the session has expired since that grant
}

// curatorLimit is how long it may take until there is a session. Each client compiles its program before, a
// second of one core: 32 clients on two cores take half a minute.
const curatorLimit = 9 * time.Second

// openCurator starts a client in Java, which waits for its session whenever it is asked for something.
func openCurator(ctx context.Context, s program.Setting, v service.Values) (program.Lock, error) {
	source, err := unnamed(mutex)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	path := "/" + strings.Trim(s.Options.Prefix, "/") + "/lock"
	cmd := exec.CommandContext(ctx, "java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp",
		strings.Join(append(curatorJars, jars...), ":"), "--source", "17", "/dev/fd/3",
		strings.Join(s.Options.Servers, ","),
		strconv.FormatInt(v.Duration("session").Milliseconds(), 10), path)
	cmd.ExtraFiles, cmd.Stderr = []*os.File{source}, os.Stderr
	l := &curatorLock{process: cmd, answers: make(chan string, 1), tells: "suspended"}
	if v["lost"] == expired {
		l.tells = "lost"
	}
	if l.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	connected := make(chan struct{})
	go l.hear(out, sync.OnceFunc(func() { close(connected) }))
	if s.Options.Incarnation > 0 { // the servers may be out of reach for a while
		return l, nil
	}
	select {
	case <-connected:
		return l, nil
	case <-l.answers:
		return nil, fmt.Errorf("the process of Curator: %w", l.Close())
	case <-time.After(curatorLimit):
		return nil, errors.Join(fmt.Errorf("there is no session by Curator at %s after %v",
			strings.Join(s.Options.Servers, ", "), curatorLimit), l.Close())
	}
}

// unnamed returns a file of some bytes that is gone once nobody has it open.
func unnamed(b []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "turnstile-*.java")
	if err != nil {
		return nil, err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		f.Close()
	}
	return f, err
}

// hear reads what the process says until it ends.
func (l *curatorLock) hear(out io.Reader, connected func()) {
	defer close(l.answers)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch text := lines.Text(); text {
		case "connected":
			l.rise()
			connected()
		case "suspended", "lost":
			l.fall(text)
		default:
			l.answers <- text
		}
	}
}

// fall takes what Curator says of the connection.
func (l *curatorLock) fall(says string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = l.over || says == "lost"
	if says != l.tells && says != "lost" {
		return
	}
	l.fell = true
	if l.lost != nil {
		close(l.lost)
		l.lost = nil
	}
}

// rise takes that there is a connection: what is granted from now on is not lost by a fall before.
func (l *curatorLock) rise() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fell = false
}

// ask has the process do something, and returns what it answers. The context ends an acquire early.
func (l *curatorLock) ask(ctx context.Context, what string) (string, error) {
	l.asked++
	number := l.asked
	if _, err := fmt.Fprintf(l.in, "%s %d\n", what, number); err != nil {
		return "", program.Fatal{Err: fmt.Errorf("the process of Curator has ended: %w", err)}
	}
	cancel := context.AfterFunc(ctx, func() { fmt.Fprintf(l.in, "cancel %d\n", number) })
	defer cancel()
	answer, is := <-l.answers
	if !is {
		return "", program.Fatal{Err: errors.New("the process of Curator has ended")}
	}
	if why, failed := strings.CutPrefix(answer, "failed "); failed {
		return "", errors.Join(ctx.Err(), fmt.Errorf("curator: %s", why))
	}
	return answer, nil
}

// Acquire implements program.Lock.
func (l *curatorLock) Acquire(ctx context.Context) (g program.Grant, err error) {
	l.mu.Lock()
	l.fell, l.over = false, false
	l.mu.Unlock()
	answer, err := l.ask(ctx, "acquire")
	if err != nil {
		return g, err
	}
	if _, err := fmt.Sscanf(answer, "granted %d", &g.Fence); err != nil {
		return g, program.Fatal{Err: fmt.Errorf("the process of Curator answers %q: %w", answer, err)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := make(chan struct{})
	if l.lost = lost; l.fell {
		close(lost)
		l.lost = nil
	}
	g.Lost = lost
	return g, nil
}

// Release implements program.Lock.
func (l *curatorLock) Release(ctx context.Context) error {
	l.mu.Lock()
	l.lost = nil
	l.mu.Unlock()
	_, err := l.ask(context.WithoutCancel(ctx), "release")
	if l.expired() {
		err = errors.Join(program.ErrLost, err)
	}
	return err
}

// expired reports whether the session was over since the latest grant.
func (l *curatorLock) expired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// Close implements program.Lock. The process ends with its input.
func (l *curatorLock) Close() error {
	l.in.Close()
	for range l.answers {
	}
	return l.process.Wait()
}
