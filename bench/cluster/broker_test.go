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

	"github.com/nats-io/nats.go"
)

// launchBroker starts this program as a broker.
func launchBroker(t *testing.T) (p *Process, url, token string) {
	t.Helper()
	t.Setenv(roleVariable, "broker")
	p, url, token, err := LaunchBroker(t.Context(), NewLauncher(), os.Args[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		<-p.Ended()
	})
	return p, url, token
}

func TestBrokerWantsItsCredential(t *testing.T) {
	_, at, token := launchBroker(t)
	conn, err := nats.Connect(at, nats.Token(token))
	if err != nil {
		t.Fatalf("refused with the right credential: %v", err)
	}
	conn.Close()
	for name, options := range map[string][]nats.Option{
		"wrong": {nats.Token(NewToken())}, "empty": {nats.Token("")}, "none": nil,
		"as a user": {nats.UserInfo(token, "")},
	} {
		if conn, err := nats.Connect(at, options...); err == nil {
			conn.Close()
			t.Errorf("credential %s: let in", name)
		}
	}
}

func TestBrokerListensOnLoopbackAlone(t *testing.T) {
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
		"":                 "reading the broker's configuration: EOF",
		"{":                "unexpected EOF",
		`{"port": "4222"}`: "cannot unmarshal string",
	} {
		var out bytes.Buffer
		err := ServeBroker(strings.NewReader(input), &out)
		if err == nil || !strings.Contains(err.Error(), says) || out.Len() > 0 {
			t.Errorf("of %q it says %q, and the error is %v", input, out.String(), err)
		}
	}
}

func TestLaunchBrokerFails(t *testing.T) {
	l := NewLauncher()
	failing := []string{"-c", "head -c 1; echo out of order; exit 3"}
	_, _, _, err := LaunchBroker(t.Context(), l, "/bin/sh", failing)
	if err == nil || !strings.Contains(err.Error(), "exit status 3; its last output:\n\t{out of order") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := LaunchBroker(ctx, l, "/bin/sh", []string{"-c", "sleep 60"}); err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
}
