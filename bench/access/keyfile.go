package access

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"turnstile/internal/certs"
	"turnstile/internal/input"
)

// A key is what a key file holds.
type key struct {
	Identity
	pair      nkeys.KeyPair
	authority string     // its certificate, as PEM
	server    certs.Pair // of the key of control alone
}

// newKey makes a key with a fresh nkey.
func newKey(i Identity, authority string) (*key, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return &key{Identity: i, pair: pair, authority: authority}, nil
}

// public returns the public part of the nkey.
func (k *key) public() (string, error) { return k.pair.PublicKey() }

// text returns the key file. The tools of NATS read the same file: they look for the line of the seed, and
// for certificates.
func (k *key) text() ([]byte, error) {
	seed, err := k.pair.Seed()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# A key for the control plane of Turnstile. Whoever has this file is %v: keep it secret.\n",
		k.Identity)
	fmt.Fprintf(&b, "role: %s\nname: %s\n%s\n%s%s%s", k.Role, k.Name, seed, k.authority, k.server.Cert,
		k.server.Key)
	return b.Bytes(), nil
}

// keyLimit is more bytes than a key file has.
const keyLimit = 1 << 16

// readKey reads a key file that nobody else can read.
func readKey(path string) (*key, error) {
	file, err := input.Open(path)
	switch {
	case errors.Is(err, input.ErrNoFile):
		return nil, notKey(path)
	case err != nil:
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the key: %w", err)
	case info.Size() > keyLimit:
		return nil, notKey(path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("other users can read or change the key %s (its mode is %04o): chmod 600 %[1]s, "+
			"and if they may have read it, make another", path, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, keyLimit))
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	k, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s is no key file that can be used: %w", path, err)
	}
	return k, nil
}

func notKey(path string) error {
	return fmt.Errorf("%s is no key file: `orchestrator keys` makes them", path)
}

// parseKey reads the text of a key file.
func parseKey(text []byte) (*key, error) {
	k := &key{}
	head, blocks, _ := strings.Cut(string(text), "-----BEGIN ")
	for line := range strings.Lines(head) {
		if err := k.parseLine(strings.TrimSpace(line)); err != nil {
			return nil, err
		}
	}
	if k.pair == nil {
		return nil, errors.New("it has no seed")
	}
	if err := k.check(); err != nil {
		return nil, err
	}
	var certificates []string
	for rest := []byte("-----BEGIN " + blocks); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		encoded := string(pem.EncodeToMemory(block))
		switch block.Type {
		case "CERTIFICATE":
			certificates = append(certificates, encoded)
		case "PRIVATE KEY":
			k.server.Key = encoded
		default:
			return nil, fmt.Errorf("it has a %q, which is no part of a key", block.Type)
		}
	}
	if len(certificates) == 0 {
		return nil, errors.New("it has no certificate of an authority")
	}
	k.authority = certificates[0]
	if len(certificates) > 1 {
		k.server.Cert = certificates[1]
	}
	return k, nil
}

// parseLine reads a line that comes before the certificates.
func (k *key) parseLine(line string) (err error) {
	name, value, isField := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch {
	case line == "", strings.HasPrefix(line, "#"):
	case isField && name == "role":
		k.Role = Role(value)
	case isField && name == "name":
		k.Name = value
	case !isField && strings.HasPrefix(line, "SU") && k.pair == nil:
		if k.pair, err = nkeys.FromSeed([]byte(line)); err != nil {
			return errors.New("its seed is damaged") // the seed is a secret
		}
	default:
		return errors.New("it has a line that is no part of a key")
	}
	return nil
}

// checkAuthority returns an error unless the authority of the key is valid now.
func (k *key) checkAuthority(now time.Time) error {
	cert, err := certs.Read(k.authority)
	if err != nil {
		return fmt.Errorf("the certificate of its authority cannot be read: %w", err)
	}
	return outside(certs.Span{From: cert.NotBefore, To: cert.NotAfter}, now)
}

// outside returns an error if a certificate of that span is not valid at a time.
func outside(valid certs.Span, now time.Time) error {
	const day = "2006-01-02"
	switch {
	case now.After(valid.To):
		return fmt.Errorf("the certificate was valid until %s, and today is %s", valid.To.Format(day),
			now.Format(day))
	case now.Before(valid.From):
		return fmt.Errorf("the certificate is valid from %s, and the clock of this machine says %s",
			valid.From.Format(day), now.Format(day))
	}
	return nil
}
