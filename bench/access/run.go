package access

import (
	"time"

	"turnstile/internal/broker"
	"turnstile/internal/certs"
)

// runTime is how long the certificates of a run are valid, which is longer than a run.
const runTime = 7 * 24 * time.Hour

// A RunAuthority signs the certificates of the brokers of one run. Its private key is in the memory of this
// process alone, and ends with it.
type RunAuthority struct{ authority *certs.Authority }

// NewRunAuthority makes the authority of a run.
func NewRunAuthority() (*RunAuthority, error) {
	a, err := certs.NewAuthority("Turnstile run", certs.SpanOf(runTime))
	if err != nil {
		return nil, err
	}
	return &RunAuthority{a}, nil
}

// Certificate returns the certificate of the authority, as PEM. Nodes check the brokers of their run against
// it (see host.Config).
func (a *RunAuthority) Certificate() string { return a.authority.Certificate() }

// Broker returns what a broker of the run needs to speak TLS with clients and with other brokers. It is
// reached at these hosts, each a DNS name or an IP address, and at 127.0.0.1.
func (a *RunAuthority) Broker(hosts ...string) (*broker.TLS, error) {
	pair, err := a.authority.Issue("Turnstile broker", append(hosts, "127.0.0.1"), certs.SpanOf(runTime))
	if err != nil {
		return nil, err
	}
	return &broker.TLS{Cert: pair.Cert, Key: pair.Key, CA: a.Certificate()}, nil
}
