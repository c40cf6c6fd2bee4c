package host_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"turnstile/internal/broker"
	"turnstile/internal/certs"
	"turnstile/nodes/host"
	"turnstile/nodes/mutex"
)

// Nodes that know the authority of their broker speak TLS with it. Others do not come up.
func TestNodesSpeakTLS(t *testing.T) {
	a, err := certs.NewAuthority("test", certs.SpanOf(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Issue("broker", []string{"127.0.0.1"}, certs.SpanOf(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.Start(broker.Config{Token: "secret",
		TLS: &broker.TLS{Cert: p.Cert, Key: p.Key, CA: a.Certificate()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	const n, entries = 3, 30
	var config host.Config
	s := begin(t, "ricart-agrawala", n, func(c *host.Config) {
		c.URL, c.CA, c.Entries = b.ClientURL(), a.Certificate(), entries
		config = *c
	})
	if b.NumClients() != n {
		t.Errorf("the broker has %d clients, not %d", b.NumClients(), n)
	}
	s.order(host.Order{Do: host.Issue, Begin: 1})
	s.awaitRest(entries)
	judge(t, s.end(), entries)

	row, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	for ca, says := range map[string]string{"": "unknown authority", "x": "it is no PEM"} {
		stranger := config
		stranger.CA, stranger.Log = ca, filepath.Join(t.TempDir(), "log")
		err := host.Run(stranger, stackOf(t, row, n).Stack, strings.NewReader(""), noteWriter{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("a node that knows %q comes up: %v", ca, err)
		}
	}
}
