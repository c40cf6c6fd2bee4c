package access

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"

	"turnstile/internal/certs"
	"turnstile/internal/unavailable"
)

// Connect connects to the control plane at a URL, or at several separated by commas, with the lab's key file
// and more options. With a key, it uses TLS, even if the URL says otherwise. Without one (keyFile is empty)
// the URL must have a loopback address, since no server could be authenticated. Errors say what to do, and
// never contain the secret.
func Connect(at string, keyFile string, more ...nats.Option) (*nats.Conn, error) {
	servers, err := parseURLs(at)
	if err != nil {
		return nil, err
	}
	for _, u := range servers {
		if err := checkURL(u, keyFile); err != nil {
			return nil, err
		}
	}
	if keyFile != "" {
		k, err := readKey(keyFile)
		if err != nil {
			return nil, err
		}
		more = append([]nats.Option{nats.Token(k.secret), nats.Secure(certs.Pinned(k.pin))}, more...)
	}
	conn, err := nats.Connect(at, more...)
	if err != nil {
		return nil, explain(err, hostsIn(servers), keyFile)
	}
	return conn, nil
}

// explain returns an error that explains why the connection to some hosts failed, and what the user can do.
func explain(err error, hosts string, keyFile string) error {
	switch {
	case keyFile == "" && (errors.Is(err, nats.ErrTLS) || errors.Is(err, nats.ErrSecureConnRequired)):
		return fmt.Errorf("the server at %s wants a key: name its file with --key", hosts)
	case errors.Is(err, certs.ErrPin):
		return fmt.Errorf("%s has another certificate than the one in %s: that key is of another lab, or somebody "+
			"else answers there", hosts, keyFile)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("the server at %s serves without keys: no key is sent there. If it is the right one, "+
			"start it with `orchestrator hosts control --keys DIR`", hosts)
	case errors.Is(err, nats.ErrAuthorization) && keyFile == "":
		return fmt.Errorf("the server at %s wants the token that is in the URL which it has printed", hosts)
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("the server at %s refuses the key %s: it is of another lab", hosts, keyFile)
	case errors.Is(err, nats.ErrNoServers):
		return unavailable.Mark(fmt.Errorf("nobody serves the control plane at %s: start "+
			"`orchestrator hosts control` there, and look whether the port is open: %w", hosts, err))
	}
	return unavailable.Mark(fmt.Errorf("connecting to the control plane at %s: %w", hosts, err))
}

// parseURLs parses URLs separated by commas, each perhaps without a scheme, like nats.Connect.
func parseURLs(text string) (all []*url.URL, err error) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if !strings.Contains(part, "://") {
			part = "nats://" + part
		}
		u, err := url.Parse(part)
		if err != nil || u.Hostname() == "" { // err would contain the token
			return nil, errors.New("this is not a URL of a control plane: write it as in tls://control:4222")
		}
		all = append(all, u)
	}
	return all, nil
}

// checkURL returns an error unless a client can authenticate the server at a URL.
func checkURL(u *url.URL, keyFile string) error {
	switch {
	case u.Scheme != "nats" && u.Scheme != "tls":
		return fmt.Errorf("the control plane speaks NATS, and the URL has %s://: write tls://%s", u.Scheme, u.Host)
	case keyFile != "" && u.User != nil:
		return fmt.Errorf("the URL of %s has a credential in it, and there is a key too: leave out one of the two",
			u.Host)
	case keyFile == "" && u.Scheme == "tls":
		return fmt.Errorf("tls://%s wants a key: name its file with --key (`orchestrator hosts keys` makes it)",
			u.Host)
	case keyFile == "" && !isLoopback(u.Hostname()):
		return fmt.Errorf("%s is another machine, and without a key neither side can authenticate the other: name "+
			"its file with --key (`orchestrator hosts keys` makes it)", u.Host)
	}
	return nil
}

// isLoopback reports whether a host is this machine. It asks no name server.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// hostsIn lists the hosts of URLs, without credentials.
func hostsIn(servers []*url.URL) string {
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
