package cluster

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/internal/broker"
	"turnstile/nodes/host"
)

// launchBrokers starts this program as so many brokers.
func launchBrokers(t testing.TB, count int, proxies *Proxies) *Brokers {
	t.Helper()
	program := []string{os.Args[0], playing, "broker"}
	b, err := LaunchBrokers(t.Context(), []Host{NewLauncher()}, program, "the broker", count, proxies, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// launchBroker starts this program as a broker.
func launchBroker(t *testing.T) (p *process, url, token string) {
	t.Helper()
	b := launchBrokers(t, 1, nil)
	return b.all[0].worker.Node.(node).process, b.URL(0), b.Token()
}

func TestBrokerWantsItsCredential(t *testing.T) {
	t.Parallel()
	_, at, token := launchBroker(t)
	conn, err := nats.Connect(at, nats.Token(token), nats.Timeout(host.JoinTimeout))
	if err != nil {
		t.Fatalf("refused with the right credential: %v", err)
	}
	conn.Close()
	for name, options := range map[string][]nats.Option{
		"wrong": {nats.Token(broker.NewToken())}, "empty": {nats.Token("")}, "none": nil,
		"as a user": {nats.UserInfo(token, "")},
	} {
		if conn, err := nats.Connect(at, options...); err == nil {
			conn.Close()
			t.Errorf("credential %s: let in", name)
		}
	}
}

func TestBrokerListensOnLoopbackAlone(t *testing.T) {
	t.Parallel()
	_, at, _ := launchBroker(t)
	u, err := url.Parse(at)
	if err != nil || u.Hostname() != "127.0.0.1" {
		t.Fatalf("its URL is %s, %v", at, err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, a := range addresses {
		ip, _, err := net.ParseCIDR(a.String())
		if err != nil || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			continue
		}
		if conn, err := net.Dial("tcp", net.JoinHostPort(ip.String(), u.Port())); err == nil {
			conn.Close()
			t.Errorf("it answers at %v", ip)
		}
	}
}

// The credential travels by pipe: arguments and environment are there for others to see.
func TestBrokerKeepsItsCredential(t *testing.T) {
	p, at, token := launchBroker(t)
	if strings.Contains(at, token) || slices.ContainsFunc(p.cmd.Args, func(arg string) bool {
		return strings.Contains(arg, token)
	}) || strings.Contains(strings.Join(p.cmd.Env, "\n"), token) {
		t.Error("the credential is told to everybody")
	}
}

func TestBrokerEndsWithItsInput(t *testing.T) {
	p, _, _ := launchBroker(t)
	p.input.Close()
	if err := ended(t, p); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

func TestServeBrokerRefuses(t *testing.T) {
	for input, says := range map[string]string{
		`{"number": 1, "order": {}}`:                          "to count, and was not started",
		`{"number": 1, "order": {"start": {"port": "4222"}}}`: "cannot unmarshal string",
		`{"number": 1, "order": 1}`:                           "reading the broker's configuration",
	} {
		p := mustLaunch(t, NewLauncher(), "broker", []byte(input), nil)
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(p.tail.String(), says); {
			if time.Sleep(time.Millisecond); time.Now().After(deadline) {
				t.Fatalf("of %q it says %q", input, p.tail.String())
			}
		}
	}
	var out bytes.Buffer
	if err := ServeBroker(strings.NewReader("{"), &out); err == nil || out.Len() > 0 {
		t.Errorf("of half an order it says %q, and the error is %v", out.String(), err)
	}
}

func TestLaunchBrokersFails(t *testing.T) {
	l := NewLauncher()
	failing := []string{"/bin/sh", "-c", "head -c 1; echo out of order; exit 3"}
	_, err := LaunchBrokers(t.Context(), []Host{l}, failing, "the broker", 1, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "exit status 3; its last output:\n\t{out of order") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = LaunchBrokers(ctx, []Host{l}, []string{"/bin/sh", "-c", "sleep 60"}, "the broker", 1, nil, nil)
	if err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
}
