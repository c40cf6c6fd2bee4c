package etcd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"turnstile/bench/service"
	"turnstile/internal/secret"
	"turnstile/nodes/foreign/program"
)

// Servers defines how the servers of etcd are started.
var Servers = service.Servers{Members: []int{1, 3}, Ports: 2, Program: "etcd", Package: "etcd-server",
	NoClock: service.GoClock, Recovers: Recovers,
	VersionArgs: []string{"--version"}, Version: regexp.MustCompile(`etcd Version: (\S+)`),
	Prepare: prepare, Command: command, Leader: leader,
	Settings: []service.Setting{
		{Name: "--unsafe-no-fsync with durable=off", Default: "the disk is written first, as with durable=on",
			Why: "to tell what the disk costs"},
		{Name: "--client-cert-auth, --peer-client-cert-auth: TLS with certificates", Default: "no TLS",
			Why: service.Strangers},
		{Name: "the server is of 3.4, its client of 3.7", Default: "the latest of both",
			Why: "Debian has it; --server-program takes another"}},
	Ready: func(ctx context.Context, m *service.Member) error {
		return ask(ctx, m, func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Get(ctx, "ready") // this read is linearizable, so a majority has answered
			return err
		})
	},
}

// Dial returns a client that uses only the given servers, with their secret. The client connects when it is
// first used.
func Dial(of *secret.Secret, servers ...string) (*clientv3.Client, error) {
	config, err := of.Config()
	if err != nil {
		return nil, err
	}
	return clientv3.New(clientv3.Config{Endpoints: servers, Logger: zap.NewNop(), TLS: config,
		DialTimeout: 2 * time.Second, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second})
}

// Open returns the client of a node. It waits until the servers answer, unless the node is restarted: then
// they may be out of reach for a while.
func Open(ctx context.Context, s program.Init) (*clientv3.Client, error) {
	c, err := Dial(&s.Secret, s.Options.Servers...)
	if err != nil || s.Options.Incarnation > 0 {
		return c, err
	}
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	if _, err := c.Get(ctx, s.Options.Prefix); err != nil {
		c.Close()
		return nil, fmt.Errorf("%s does not answer as etcd does to a client %s: %w",
			strings.Join(s.Options.Servers, ", "), s.Secret.With(), err)
	}
	return c, nil
}

// openLimit is how long servers may take to answer a client's first request.
const openLimit = 5 * time.Second

// askLimit is how long a server may take to answer a request about its state.
const askLimit = 500 * time.Millisecond

// ask calls do with a client of one server. do may take as long as askLimit.
func ask(ctx context.Context, m *service.Member, do func(context.Context, *clientv3.Client) error) error {
	c, err := Dial(m.Secret, m.Address(0))
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return do(ctx, c)
}

func nameOf(m *service.Member) string { return fmt.Sprintf("m%d", m.Number) }

// peerOf returns the URL at which other members reach a member.
func peerOf(m *service.Member) string { return "https://" + m.Peer(1) }

// The files of a member with its certificate, and the key of that.
const (
	certFile = "cert.pem"
	keyFile  = "key.pem"
)

// prepare writes the certificate of a member, and has a cluster take it in that it was part of.
func prepare(ctx context.Context, m *service.Member) error {
	_, err := m.Write(certFile, m.Secret.Pair.Cert)
	if err == nil {
		_, err = m.Write(keyFile, m.Secret.Pair.Key)
	}
	if err == nil {
		err = rejoin(ctx, m)
	}
	return err
}

// command returns the arguments of a server. If a member restarts with an empty folder, rejoin has added it
// to the cluster before.
func command(m *service.Member) (args, env []string) {
	var all []string
	for _, other := range m.All {
		all = append(all, nameOf(other)+"="+peerOf(other))
	}
	state := "new"
	if m.Started() && len(m.All) > 1 {
		state = "existing"
	}
	client, cert, key := "https://"+m.Address(0), m.File(certFile), m.File(keyFile)
	args = []string{"--name", nameOf(m), "--data-dir", m.File("data"),
		"--logger", "zap", "--log-level", "error",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--client-cert-auth", "--cert-file", cert, "--key-file", key, "--trusted-ca-file", cert,
		"--peer-client-cert-auth", "--peer-cert-file", cert, "--peer-key-file", key, "--peer-trusted-ca-file", cert,
		"--listen-peer-urls", "https://" + m.Address(1), "--initial-advertise-peer-urls", peerOf(m),
		"--initial-cluster", strings.Join(all, ","), "--initial-cluster-state", state,
		"--initial-cluster-token", peerOf(m.All[0]),
		"--heartbeat-interval", "100", "--election-timeout", "1000"}
	if !m.Values.On(Durable.Name) {
		args = append(args, "--unsafe-no-fsync")
	}
	return args, nil
}

// rejoin replaces a member that restarts with an empty folder: the other members remove the old member from
// the cluster and add the new one. A single member instead starts a new cluster.
func rejoin(ctx context.Context, m *service.Member) error {
	if !m.Started() || len(m.All) == 1 {
		return nil
	}
	var others []string
	for _, other := range m.All {
		if other != m {
			others = append(others, other.Address(0))
		}
	}
	c, err := Dial(m.Secret, others...)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, rejoinLimit)
	defer cancel()
	for {
		err := replace(ctx, c, m)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it cannot rejoin with an empty folder, since a majority of all members has to be up "+
				"and to take it in: %w", err)
		case <-time.After(100 * time.Millisecond): // waits before the next try
		}
	}
}

// rejoinLimit is how long the other members may take to add a member. They refuse to until they have been
// connected with a majority for 5 s.
const rejoinLimit = 10 * time.Second

// replace removes the old member from the cluster, if it is still listed, and adds the new one.
func replace(ctx context.Context, c *clientv3.Client, m *service.Member) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	all, err := c.MemberList(ctx)
	if err != nil {
		return err
	}
	for _, known := range all.Members {
		if len(known.PeerURLs) == 1 && known.PeerURLs[0] == peerOf(m) {
			if _, err := c.MemberRemove(ctx, known.ID); err != nil {
				return err
			}
		}
	}
	_, err = c.MemberAdd(ctx, []string{peerOf(m)})
	return err
}

// leader returns the index of the member that reports to lead; of several, the member with the highest term;
// -1: no member does.
func leader(ctx context.Context, all []*service.Member) (int, error) {
	type status struct {
		member int
		term   uint64
		err    error
	}
	found := make(chan status)
	for i, m := range all {
		go func() {
			s := status{member: -1}
			s.err = ask(ctx, m, func(ctx context.Context, c *clientv3.Client) error {
				r, err := c.Status(ctx, m.Address(0))
				if err == nil && r.Leader == r.Header.MemberId {
					s.member, s.term = i, r.RaftTerm
				}
				return err
			})
			found <- s
		}()
	}
	best, wrong := status{member: -1}, []error{}
	for range all {
		s := <-found
		if s.member >= 0 && (best.member < 0 || s.term > best.term) {
			best = s
		}
		if s.err != nil {
			wrong = append(wrong, s.err)
		}
	}
	if len(wrong) == len(all) {
		return -1, fmt.Errorf("no server reports the leader: %w", errors.Join(wrong...))
	}
	return best.member, nil
}
