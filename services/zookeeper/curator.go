package zookeeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	if _, err := compiler(); err != nil {
		return fmt.Errorf("curator needs java with its compiler: install the Debian package "+
			"default-jdk-headless: %w", err)
	}
	for _, jar := range slices.Concat(curatorJars, jars) {
		if _, err := os.Stat(jar); err != nil {
			return fmt.Errorf("curator needs %s, which is missing: install the Debian package "+
				"libcurator-recipes-java", jar)
		}
	}
	return nil
}

// prepareCurator checks what needsCurator checks, and compiles a client. A run calls it before it starts
// clients, so that the compiler does not use up the limit of their start.
func prepareCurator(name string, source []byte) error {
	if err := needsCurator(); err != nil {
		return err
	}
	_, err := compiled(context.Background(), name, source)
	return err
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

// A curatorProcess is a client in Java. It exchanges lines of text with this program.
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

// curatorLimit is how long a client may take to begin a session, without waits for processors.
const curatorLimit = 9 * time.Second

// startCurator starts a Java program by its name, and waits until the program reports that it is connected.
// For a restarted node it does not wait, since the servers may be out of reach for a while. hear gets each
// line of output; ended is called at the end of the output. The arguments of the program are the servers, the
// session timeout in ms, the file of the password or an empty name, and args.
func startCurator(ctx context.Context, s program.Init, name string, source []byte, session time.Duration,
	args []string, hear func(line string), ended func()) (*curatorProcess, error) {
	classes, err := compiled(ctx, name, source)
	if err != nil {
		return nil, err
	}
	servers := strings.Join(s.Options.Servers, ",")
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args = slices.Concat([]string{"-cp", classPath() + ":" + classes, name, servers,
		strconv.FormatInt(session.Milliseconds(), 10), s.Secret.PasswordFile()}, args)
	p := &curatorProcess{in: in}
	p.Process, err = proc.NewLauncher().Start(proc.Command{Name: "the process of Curator",
		Program: append([]string{"java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"-XX:-UsePerfData", "-Xlog:disable", "-Xlog:all=warning:stderr", // stdout has nothing but answers
			"-Dorg.slf4j.simpleLogger.defaultLogLevel=error"}, args...),
		Stdin: stdin, Stdout: stdout, Shares: true,
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
	case <-p.Late(curatorLimit):
		p.in.Close()
		<-over
		return nil, errors.Join(fmt.Errorf("there is no session by Curator at %s after %v", servers, curatorLimit),
			p.ending())
	}
}
