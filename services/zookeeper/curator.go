package zookeeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/proc"
	"turnstile/nodes/foreign/program"
)

// curatorJar is the path of Curator's jar. Beside it is a jar whose name contains the version.
const curatorJar = "/usr/share/java/curator-recipes.jar"

// curatorJars are the jars of Curator, in addition to the jars of ZooKeeper.
var curatorJars = []string{curatorJar, "/usr/share/java/curator-framework.jar",
	"/usr/share/java/curator-client.jar", "/usr/share/java/guava.jar"}

// needsCurator returns an error if Curator or a compiler is missing, and says what to install.
func needsCurator() error {
	program, err := exec.LookPath("java")
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(filepath.Dir(program), "javac"))
	}
	if err != nil {
		return fmt.Errorf("curator needs java with its compiler: install the Debian package "+
			"default-jdk-headless: %w", err)
	}
	for _, jar := range append(curatorJars, jars...) {
		if _, err := os.Stat(jar); err != nil {
			return fmt.Errorf("curator needs %s, which is missing: install the Debian package "+
				"libcurator-recipes-java", jar)
		}
	}
	return nil
}

// curatorVersion returns Curator's name and version, taken from the name of a jar.
func curatorVersion() string {
	found, _ := filepath.Glob(strings.TrimSuffix(curatorJar, ".jar") + "-*.jar")
	if len(found) == 0 {
		return "curator"
	}
	version := strings.TrimPrefix(filepath.Base(found[0]), "curator-recipes-")
	return "curator " + strings.TrimSuffix(version, ".jar")
}

// A curatorProcess is a client in Java, which is compiled when it starts. It exchanges lines of text with
// this program.
type curatorProcess struct {
	*proc.Process
	in io.WriteCloser
}

// ending waits until the process has ended. It returns an error if the process failed.
func (p *curatorProcess) ending() error {
	<-p.Ended()
	if f := p.Fate(); !f.Well {
		return fmt.Errorf("%s: %s", p.Name(), f.Says)
	}
	return nil
}

// curatorLimit is how long a client may take to begin a session. Each client first compiles its program for a
// second on one core. So it is too short for 32 clients on two cores, which take half a minute.
const curatorLimit = 9 * time.Second

// startCurator starts a Java program, and waits until the program reports that it is connected. For a
// restarted node it does not wait, since the servers may be out of reach for a while. hear gets each line of
// output; ended is called at the end of the output. The arguments of the program are the servers, the session
// timeout in ms, and args.
func startCurator(ctx context.Context, s program.Setting, source []byte, session time.Duration, args []string,
	hear func(line string), ended func()) (*curatorProcess, error) {
	file, err := unnamed(source)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	servers := strings.Join(s.Options.Servers, ",")
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &curatorProcess{in: in}
	p.Process, err = proc.NewLauncher().Start(proc.Command{Name: "the process of Curator",
		Program: append([]string{"java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp",
			strings.Join(append(curatorJars, jars...), ":"), "--source", "17", "/dev/fd/3", servers,
			strconv.FormatInt(session.Milliseconds(), 10)}, args...),
		Stdin: stdin, Stdout: stdout, Files: []*os.File{file}, Shares: true,
		OnOutput: func(b []byte) []byte {
			os.Stderr.Write(b)
			return b
		}})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, p.Kill)
	connected, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		defer ended()
		is := false
		for lines := bufio.NewScanner(out); lines.Scan(); hear(lines.Text()) {
			if lines.Text() == "connected" && !is {
				is = true
				close(connected)
			}
		}
	}()
	if s.Options.Incarnation > 0 {
		return p, nil
	}
	select {
	case <-connected:
		return p, nil
	case <-over:
		return nil, errors.Join(errors.New("it ended before it was connected"), p.ending())
	case <-time.After(curatorLimit):
		p.in.Close()
		<-over
		return nil, errors.Join(fmt.Errorf("there is no session by Curator at %s after %v", servers, curatorLimit),
			p.ending())
	}
}

// unnamed returns a temporary file with the given contents, which has no name any more.
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
