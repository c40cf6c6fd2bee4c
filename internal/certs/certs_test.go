package certs

import (
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"
)

// A certificate is valid at its hosts, in its time, which ends with that of the authority, and for who trusts
// the authority.
func TestIssue(t *testing.T) {
	a, err := NewAuthority("test", SpanOf(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadAuthority(a.Pair())
	if err != nil || again.Certificate() != a.Certificate() {
		t.Fatalf("an authority is read as another: %v", err)
	}
	pair, err := again.Issue("server", []string{"control", "10.0.0.5", "::1"}, SpanOf(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := Read(pair.Cert)
	if err != nil {
		t.Fatal(err)
	}
	if authority, err := Read(a.Certificate()); err != nil || cert.NotAfter.After(authority.NotAfter) {
		t.Errorf("it is valid until %v, and its authority %v: %v", cert.NotAfter, authority, err)
	}
	if cert.IsCA {
		t.Error("the certificate of a server can sign others")
	}
	trusting, err := Trusting(a.Certificate())
	if err != nil {
		t.Fatal(err)
	}
	for host, valid := range map[string]bool{"control": true, "10.0.0.5": true, "::1": true, "other": false,
		"10.0.0.6": false} {
		_, err := cert.Verify(x509.VerifyOptions{Roots: trusting.RootCAs, DNSName: host})
		if (err == nil) != valid {
			t.Errorf("at %s: %v", host, err)
		}
	}
	for after, valid := range map[time.Duration]bool{-12 * time.Hour: true, -48 * time.Hour: false,
		59 * time.Minute: true, 90 * time.Minute: false} {
		_, err := cert.Verify(x509.VerifyOptions{Roots: trusting.RootCAs, CurrentTime: time.Now().Add(after)})
		if (err == nil) != valid {
			t.Errorf("after %v: %v", after, err)
		}
	}
	other, err := NewAuthority("test", SpanOf(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	trusting, err = Trusting(other.Certificate())
	if err != nil {
		t.Fatal(err)
	}
	_, err = cert.Verify(x509.VerifyOptions{Roots: trusting.RootCAs})
	if !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("who trusts another authority: %v", err)
	}
	if _, err := ReadAuthority(pair); err == nil || !strings.Contains(err.Error(), "not one of an authority") {
		t.Errorf("a server is an authority: %v", err)
	}
	mixed := Pair{a.Certificate(), other.Pair().Key}
	if _, err := ReadAuthority(mixed); err == nil {
		t.Error("an authority has the key of another")
	}
}
