package host_test

import (
	"path/filepath"
	"strings"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/internal/broker"
	"turnstile/internal/certs"
	"turnstile/nodes/host"
)

// Nodes that know the certificate of their broker speak TLS with it. Others do not come up.
func TestNodesSpeakTLS(t *testing.T) {
	p, err := certs.New("test")
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.Start(broker.Config{Token: "secret", TLS: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	const n, entries = 3, 30
	var config host.Config
	s := begin(t, "ricart-agrawala", n, func(c *host.Config) {
		c.URL, c.Pin, c.Entries = b.ClientURL(), p.Pin, entries
		config = *c
	})
	if b.NumClients() != n {
		t.Errorf("the broker has %d clients, not %d", b.NumClients(), n)
	}
	s.order(host.Order{Do: host.Issue, Begin: 1})
	s.awaitRest(entries)
	judge(t, s.end(), entries)

	algo, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	for pin, says := range map[string]string{"": "failed to verify certificate", "x": certs.ErrPin.Error()} {
		stranger := config
		stranger.Pin, stranger.Log = pin, filepath.Join(t.TempDir(), "log")
		err := host.Run(stranger, stackOf(t, algo, n).Stack, strings.NewReader(""), noteWriter{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("a node that knows the pin %q comes up: %v", pin, err)
		}
	}
}
