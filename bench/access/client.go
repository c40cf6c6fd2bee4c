package access

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/internal/certs"
	"turnstile/internal/unavailable"
)

// Options returns how to connect to the control plane at a URL, or at several with commas between, and who
// the server will take this client for. With a key file, TLS is spoken whatever the URL says. Without one (an
// empty keyFile) the zero Identity is returned, and the URL must be of a loopback address: nothing would say
// who is at the other end. No error has a secret in it.
func Options(at string, keyFile string) ([]nats.Option, Identity, error) {
	servers, err := parseURLs(at)
	if err != nil {
		return nil, Identity{}, err
	}
	for _, u := range servers {
		if err := checkURL(u, keyFile); err != nil {
			return nil, Identity{}, err
		}
	}
	if keyFile == "" {
		return nil, Identity{}, nil
	}
	k, err := readKey(keyFile)
	if err != nil {
		return nil, Identity{}, err
	}
	if err := k.checkAuthority(time.Now()); err != nil {
		return nil, Identity{}, fmt.Errorf("%s: its authority: %w", keyFile, err)
	}
	trusting, err := certs.Trusting(k.authority)
	if err != nil {
		return nil, Identity{}, fmt.Errorf("%s: %w", keyFile, err)
	}
	public, err := k.public()
	if err != nil {
		return nil, Identity{}, fmt.Errorf("%s: its seed is damaged", keyFile)
	}
	return []nats.Option{
		nats.Nkey(public, k.pair.Sign), nats.Secure(trusting), nats.CustomInboxPrefix(k.Inbox()),
		nats.Name(k.String()),
	}, k.Identity, nil
}

// Connect connects to the control plane as Options says, with more options. Its errors say what to do.
func Connect(at string, keyFile string, more ...nats.Option) (*nats.Conn, Identity, error) {
	options, who, err := Options(at, keyFile)
	if err != nil {
		return nil, who, err
	}
	conn, err := nats.Connect(at, append(options, more...)...)
	if err != nil {
		return nil, who, Explain(err, at, keyFile)
	}
	return conn, who, nil
}

// Explain translates the error of a failed connection that used Options. It returns an error that says what
// went wrong and what the user can do. To an error that it does not know it adds the hosts of the URL.
func Explain(err error, at string, keyFile string) error {
	hosts := hostsIn(at)
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case keyFile == "" && (errors.Is(err, nats.ErrTLS) || errors.Is(err, nats.ErrSecureConnRequired)):
		return fmt.Errorf("the server at %s wants a key: name its file with --key", hosts)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s has a certificate of another authority than %s: that key is for another control "+
			"plane, or somebody else answers there", hosts, keyFile)
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of the server is not valid at %s, but at %s: use one of these, or run "+
			"`orchestrator keys DIR --renew --control HOST[,HOST]` where the keys were made", hosts,
			strings.Join(hostsOf(name.Certificate), ", "))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		valid := certs.Span{From: invalid.Cert.NotBefore, To: invalid.Cert.NotAfter}
		if err := outside(valid, time.Now()); err != nil {
			return fmt.Errorf("the server at %s: %w: run `orchestrator keys DIR --renew` where the keys were made, "+
				"or set the clock of this machine", hosts, err)
		}
	case errors.Is(err, nats.ErrSecureConnWanted), errors.Is(err, nats.ErrNkeysNotSupported):
		return fmt.Errorf("the server at %s serves without keys: no key is sent there. If it is the right one, "+
			"start it with `orchestrator control --keys DIR`", hosts)
	case errors.Is(err, nats.ErrAuthorization) && keyFile == "":
		return fmt.Errorf("the server at %s wants the token that is in the URL which it has printed", hosts)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthRevoked):
		return fmt.Errorf("the server at %s refuses the key %s: it is of another folder of keys, or was revoked",
			hosts, keyFile)
	case errors.Is(err, nats.ErrNoServers):
		return unavailable.Mark(fmt.Errorf("nobody serves the control plane at %s: start `orchestrator control` "+
			"there, and look whether the port is open: %w", hosts, err))
	}
	return unavailable.Mark(fmt.Errorf("connecting to the control plane at %s: %w", hosts, err))
}

// parseURLs reads what nats.Connect reads: URLs with commas between, each perhaps without a scheme.
func parseURLs(text string) (all []*url.URL, err error) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if !strings.Contains(part, "://") {
			part = "nats://" + part
		}
		u, err := url.Parse(part)
		if err != nil || u.Hostname() == "" { // the error would have the token in it
			return nil, errors.New("the URL of the control plane is none: write it as in tls://control:4222")
		}
		all = append(all, u)
	}
	return all, nil
}

// checkURL returns an error unless a client can be sure of the server at a URL.
func checkURL(u *url.URL, keyFile string) error {
	switch {
	case u.Scheme != "nats" && u.Scheme != "tls":
		return fmt.Errorf("the control plane speaks NATS, and the URL has %s://: write tls://%s", u.Scheme, u.Host)
	case keyFile != "" && u.User != nil:
		return fmt.Errorf("the URL of %s has a credential in it, and there is a key too: leave out one of the two",
			u.Host)
	case keyFile == "" && u.Scheme == "tls":
		return fmt.Errorf("tls://%s wants a key: name its file with --key (`orchestrator keys` makes them)", u.Host)
	case keyFile == "" && !isLoopback(u.Hostname()):
		return fmt.Errorf("%s is another machine, and without a key nobody could be sure of the other: name a "+
			"key file with --key (`orchestrator keys` makes them)", u.Host)
	}
	return nil
}

// isLoopback reports whether a host is this machine, without asking anybody.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// hostsIn names the hosts of URLs, without credentials.
func hostsIn(at string) string {
	servers, err := parseURLs(at)
	if err != nil {
		return "that URL"
	}
	var hosts []string
	for _, u := range servers {
		host := u.Host
		if u.Port() == "" {
			host = net.JoinHostPort(u.Hostname(), fmt.Sprint(DefaultPort))
		}
		hosts = append(hosts, host)
	}
	return strings.Join(hosts, ", ")
}
