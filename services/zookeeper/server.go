package zookeeper

import (
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"time"

	"turnstile/bench/service"
)

const (
	tick       = 200 * time.Millisecond
	minSession = 2 * tick
	maxSession = time.Minute
)

// Ports of a server.
const (
	clients   = iota // for connections of clients
	followers        // for connections of followers to the leader
	votes
)

// granted returns the session timeout that servers grant.
func granted(v service.Values) time.Duration {
	return min(max(v.Duration("session"), minSession), maxSession)
}

// jars are the jars of ZooKeeper's server, as its Debian package installs them.
var jars = func() (all []string) {
	for _, name := range []string{"zookeeper", "zookeeper-jute", "netty-buffer", "netty-common", "netty-handler",
		"netty-transport", "netty-codec", "netty-resolver", "metrics-core", "snappy-java", "slf4j-api",
		"slf4j-simple"} {
		all = append(all, "/usr/share/java/"+name+".jar")
	}
	return all
}()

// heap sets the heap of a server to the default of zkEnv.sh; all other settings are the defaults of Java.
const heap = "-Xmx1000m"

// java returns the arguments by which java runs a class of the server.
func java(class string, more ...string) []string {
	return append([]string{heap,
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", strings.Join(jars, ":"), class}, more...)
}

// recovers is how long servers may take to elect a leader, and clients to reconnect.
const recovers = 5 * time.Second

// servers defines how ZooKeeper is started.
var servers = service.Servers{Members: []int{1, 3}, Ports: 3, Program: "java", Package: "zookeeper",
	NoClock:     "they are written in Java, and its sessions go by the monotonic clock, which does not jump",
	Recovers:    recovers,
	VersionArgs: java("org.apache.zookeeper.version.VersionInfoMain"),
	Version:     regexp.MustCompile(`ZooKeeper, version (\S+)`),
	Needs:       func(string) []string { return jars },
	Prepare:     prepare,
	Command: func(m *service.Member) (args, env []string) {
		class := "org.apache.zookeeper.server.ZooKeeperServerMain"
		if len(m.All) > 1 {
			class = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
		}
		args = java(class, m.File("zoo.cfg"))
		if !m.Values.On("durable") {
			args = append([]string{"-Dzookeeper.forceSync=no"}, args...)
		}
		return append([]string{"-Dzookeeper.admin.enableServer=false"}, args...), nil
	},
	Ready: func(ctx context.Context, m *service.Member) error {
		mode, err := ask(ctx, m)
		if err == nil && mode == "" {
			err = fmt.Errorf("it has not joined a cluster yet")
		}
		return err
	},
	Leader: service.First(func(ctx context.Context, m *service.Member) bool {
		mode, _ := ask(ctx, m)
		return mode == "leader" || mode == "standalone"
	}),
	Settings: []service.Setting{
		{Name: "tickTime=200, initLimit=25, syncLimit=10", Default: "2000, 10 and 5 in its sample",
			Why: "the least session timeout is two ticks, 4 s by default, and runs need shorter ones"},
		{Name: "maxSessionTimeout=60000", Default: "20 ticks", Why: "ticks are short"},
		{Name: "zookeeper.forceSync=no with durable=off", Default: "yes, as with durable=on",
			Why: "to tell what the disk costs"},
		{Name: "maxClientCnxns=0", Default: "60", Why: "all clients have one address"},
		{Name: "an access list (digest) at the root from the start", Default: "anybody may do all",
			Why: service.Strangers},
		{Name: "no admin server, log level warn", Default: "on port 8080, info",
			Why: "ports of a run are its own"}},
	Limit: 40 * time.Second,
}

// prepare writes the configuration of a server, and its first snapshot.
func prepare(_ context.Context, m *service.Member) error {
	if err := closeRoot(m); err != nil {
		return err
	}
	lines := []string{fmt.Sprintf("tickTime=%d", tick.Milliseconds()), "initLimit=25", "syncLimit=10",
		fmt.Sprintf("minSessionTimeout=%d", minSession.Milliseconds()),
		fmt.Sprintf("maxSessionTimeout=%d", maxSession.Milliseconds()),
		"dataDir=" + m.Dir, fmt.Sprintf("clientPort=%d", m.Ports[clients]), "clientPortAddress=127.0.0.1",
		"4lw.commands.whitelist=srvr,wchs", "maxClientCnxns=0"}
	if len(m.All) > 1 {
		for _, other := range m.All {
			_, vote, err := net.SplitHostPort(m.Reach(other, votes))
			if err != nil {
				return err
			}
			lines = append(lines, fmt.Sprintf("server.%d=%s:%s", other.Number+1, m.Reach(other, followers), vote))
		}
		if _, err := m.Write("myid", fmt.Sprint(m.Number+1)); err != nil {
			return err
		}
	}
	_, err := m.Write("zoo.cfg", strings.Join(lines, "\n")+"\n")
	return err
}

// askLimit is how long a server may take to report its state.
const askLimit = 500 * time.Millisecond

var mode = regexp.MustCompile(`(?m)^Mode: (\S+)$`)

// ask returns the state of a server: leader, follower or standalone; empty: the server has no state yet.
func ask(ctx context.Context, m *service.Member) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.Address(clients))
	if err != nil {
		return "", err
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	c.SetDeadline(deadline)
	if _, err := io.WriteString(c, "srvr"); err != nil {
		return "", err
	}
	says, err := io.ReadAll(c)
	if err != nil {
		return "", err
	}
	if found := mode.FindSubmatch(says); found != nil {
		return string(found[1]), nil
	}
	return "", nil
}
