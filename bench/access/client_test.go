package access

import (
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/internal/broker"
	"turnstile/internal/certs"
)

// The server refuses a client without a key of its folder, and the client says why. No error holds a secret.
func TestStrangers(t *testing.T) {
	dir, other := makeKeys(t), makeKeys(t)
	s, log := serve(t, dir)
	open, err := Serve(ServerConfig{Listen: "127.0.0.1:0", Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(open.Close)
	own := filepath.Join(dir, "a.nk")
	mixed := filepath.Join(dir, "mixed.nk") // a key of another folder, with this authority
	ours, theirs := read(t, own), read(t, filepath.Join(other, "a.nk"))
	cut := func(text string) int { return strings.Index(text, "-----BEGIN") }
	overwrite(t, mixed, theirs[:cut(theirs)]+ours[cut(ours):])
	loose := filepath.Join(dir, "loose.nk")
	overwrite(t, loose, ours)
	if err := os.Chmod(loose, 0o644); err != nil {
		t.Fatal(err)
	}
	at := s.Addr()
	for _, test := range []struct{ url, key, says string }{
		{"nats://" + at, "", "wants a key: name its file with --key"},
		{"tls://" + at, "", "wants a key: name its file with --key"},
		{"nats://control:4222", "", "is another machine, and without a key"},
		{"nats://me:secret@10.0.0.5", "", "is another machine, and without a key"},
		{"tls://secret@" + at, own, "a credential in it, and there is a key too"},
		{"http://" + at, own, "speaks NATS, and the URL has http://"},
		{"tls://secret@%zz", own, "the URL of the control plane is none"},
		{"", own, "the URL of the control plane is none"},
		{"tls://" + at, filepath.Join(other, "a.nk"), "of another authority than"},
		{"tls://" + at, mixed, "refuses the key " + mixed + ": it is of another folder of keys, or was revoked"},
		{"tls://" + at, loose, "(its mode is 0644): chmod 600 " + loose},
		{"tls://" + at, filepath.Join(dir, "allowed.yaml"), "is no key file that can be used"},
		{"tls://" + at, dir, "is no key file"},
		{"tls://" + at, filepath.Join(dir, "none.nk"), "no such file"},
		{"tls://127.0.0.2:" + strings.Split(at, ":")[1], own, "nobody serves the control plane at 127.0.0.2:"},
		{"tls://" + open.Addr(), own, "serves without keys: no key is sent there"},
		{"nats://secret2@" + open.Addr(), "", "wants the token that is in the URL"},
		{"nats://" + open.Addr(), "", "wants the token that is in the URL"},
	} {
		conn, _, err := Connect(test.url, test.key, nats.Timeout(limit))
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s with %s: %v; not %q", test.url, test.key, err, test.says)
		}
	}
	if !strings.Contains(log.String(), "authentication error") {
		t.Errorf("the server logs no refusal:\n%s", log)
	}
	for url, key := range map[string]string{s.URL(): own, "nats://" + at: own, at: own, open.URL(): "",
		"tls://localhost:1,tls://" + at: own} {
		conn, _, err := Connect(url, key, nats.Timeout(limit))
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		conn.Close()
	}
}

// A server whose certificate is not valid, now or there, is not trusted, and its user is told what helps.
func TestCertificatesThatAreNotValid(t *testing.T) {
	dir := makeKeys(t)
	s, _ := serve(t, dir)
	text := read(t, filepath.Join(dir, authorityFile))
	i := strings.Index(text, "-----BEGIN PRIVATE")
	authority, err := certs.ReadAuthority(certs.Pair{Cert: text[:i], Key: text[i:]})
	if err != nil {
		t.Fatal(err)
	}
	hour, now := time.Hour, time.Now()
	for says, test := range map[string]struct {
		host  string
		valid certs.Span
	}{
		"was valid until":           {"127.0.0.1", certs.Span{From: now.Add(-2 * hour), To: now.Add(-hour)}},
		"is valid from":             {"127.0.0.1", certs.Span{From: now.Add(hour), To: now.Add(2 * hour)}},
		"valid at 127.0.0.1:":       {"elsewhere", certs.SpanOf(hour)},
		"but at elsewhere: use one": {"elsewhere", certs.SpanOf(hour)},
	} {
		pair, err := authority.Issue("test", []string{test.host}, test.valid)
		if err != nil {
			t.Fatal(err)
		}
		k, err := readKey(filepath.Join(dir, controlFile))
		if err != nil {
			t.Fatal(err)
		}
		k.server = pair
		text, err := k.text()
		if err != nil {
			t.Fatal(err)
		}
		overwrite(t, filepath.Join(dir, controlFile), string(text))
		_, err = s.Refresh()
		if expires := now.After(test.valid.To) || now.Before(test.valid.From); expires {
			if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "--renew") {
				t.Errorf("the server takes such a certificate: %v", err)
			}
			s.certificate.Store(keyPair(t, pair)) // it has expired since
		} else if err != nil {
			t.Fatal(err)
		}
		conn, _, err := Connect("tls://"+s.Addr(), filepath.Join(dir, "a.nk"))
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "--renew") {
			t.Errorf("%v; not %q", err, says)
		}
	}
	k, err := readKey(filepath.Join(dir, "a.nk"))
	if err != nil {
		t.Fatal(err)
	}
	err = k.checkAuthority(now.Add(11 * year))
	if err == nil || !strings.Contains(err.Error(), "was valid until") {
		t.Errorf("in eleven years: %v", err)
	}
}

// A server without keys listens on a loopback address, and lets in clients that know its token.
func TestServeWithoutKeys(t *testing.T) {
	for listen, says := range map[string]string{
		"0.0.0.0:0":         "orchestrator keys DIR --control HOST",
		":0":                "orchestrator keys DIR --control HOST",
		"10.0.0.5:4222":     "on a loopback address alone",
		"[::]:0":            "on a loopback address alone",
		"127.0.0.1":         "is no address with a port",
		"127.0.0.1:x":       `there is no port "x"`,
		"127.0.0.1:9999999": "there is no port",
		"control:4222":      "is no IP address of this machine",
	} {
		s, err := Serve(ServerConfig{Listen: listen})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, not %q", listen, err, says)
		}
	}
	s, err := Serve(ServerConfig{Listen: "localhost:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if second, err := Serve(ServerConfig{Listen: s.Addr()}); err == nil {
		second.Close()
		t.Error("two servers listen at one address")
	}
	conn, who, err := Connect(s.URL(), "")
	if err != nil || who != (Identity{}) {
		t.Fatalf("%v: %v", who, err)
	}
	conn.Close()
}

// The brokers of a run speak TLS. A client that does not trust the authority of the run cannot connect.
func TestRunAuthority(t *testing.T) {
	a, err := NewRunAuthority()
	if err != nil {
		t.Fatal(err)
	}
	speaks, err := a.Broker("localhost", "10.0.0.5")
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.Start(broker.Config{Token: "token", TLS: speaks})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Shutdown()
	other, err := NewRunAuthority()
	if err != nil {
		t.Fatal(err)
	}
	for certificate, trusted := range map[string]bool{a.Certificate(): true, other.Certificate(): false} {
		trusting, err := certs.Trusting(certificate)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := nats.Connect(b.ClientURL(), nats.Token("token"), nats.Secure(trusting), nats.Timeout(limit))
		if (err == nil) != trusted {
			t.Errorf("who trusts it: %v gets %v", trusted, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

func keyPair(t *testing.T, p certs.Pair) *tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(p.Cert), []byte(p.Key))
	if err != nil {
		t.Fatal(err)
	}
	return &pair
}

// A key file is what the tools of NATS take for a seed and for the certificate of an authority.
func TestToolsOfNATS(t *testing.T) {
	dir := makeKeys(t)
	s, _ := serve(t, dir)
	file := filepath.Join(dir, "me.nk")
	seed, err := nats.NkeyOptionFromSeed(file)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(s.URL(), seed, nats.RootCAs(file), nats.CustomInboxPrefix("_INBOX_u_me"),
		nats.Timeout(limit))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Request("$SRV.PING", nil, limit); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("it is asked who is there: %v", err)
	}
}
