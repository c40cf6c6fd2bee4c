// Package secret has what the servers of a run demand of their clients: a password and a certificate. They
// are made for each run, in files that only one user can read.
package secret

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"turnstile/internal/certs"
	"turnstile/internal/input"
)

// The files of a secret.
const (
	passwordFile = "password" // without a line end
	certFile     = "cert.pem" // the certificate of servers and clients alike, which is also its own authority
	keyFile      = "key.pem"  // the private key of the certificate
)

// limit is how many bytes a file of a secret may have.
const limit = 64 << 10

// User is the name of the clients, where servers demand one beside the password.
const User = "turnstile"

// A Secret is what servers demand of their clients. The zero Secret is for servers that demand nothing.
type Secret struct {
	Dir      string // the folder of its files; empty: the zero Secret
	Password string // only letters and digits
	Pair     certs.Pair
}

// Make makes a secret, with its files in a new folder.
func Make(dir string) (*Secret, error) {
	pair, err := certs.New("Turnstile run")
	if err != nil {
		return nil, err
	}
	s := &Secret{Dir: dir, Password: rand.Text(), Pair: *pair}
	err = os.Mkdir(dir, 0o700)
	for name, text := range map[string]string{passwordFile: s.Password, certFile: pair.Cert, keyFile: pair.Key} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("storing the secret of the servers: %w", err)
	}
	return s, nil
}

// Read reads a secret from the folder of its files. An empty name stands for the zero Secret.
func Read(dir string) (s Secret, err error) {
	if dir == "" {
		return s, nil
	}
	read := func(name string) string {
		b, wrong := input.ReadFile(filepath.Join(dir, name), limit)
		err = errors.Join(err, wrong)
		return string(b)
	}
	s = Secret{Dir: dir, Password: read(passwordFile)}
	s.Pair.Cert, s.Pair.Key = read(certFile), read(keyFile)
	if err != nil {
		err = fmt.Errorf("reading the secret of the servers: %w", err)
	}
	return s, err
}

// Config returns how a client connects by TLS: with the certificate, to a server that has it, too. For the
// zero Secret it is nil.
func (s *Secret) Config() (*tls.Config, error) {
	if s.Dir == "" {
		return nil, nil
	}
	pair, err := tls.X509KeyPair([]byte(s.Pair.Cert), []byte(s.Pair.Key))
	if err != nil {
		return nil, fmt.Errorf("the certificate in %s: %w", s.Dir, err)
	}
	config := certs.Pinned(certs.Pin(pair.Leaf))
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// PasswordFile returns the path of the file with the password, for clients in other processes. For the zero
// Secret it is empty.
func (s *Secret) PasswordFile() string {
	if s.Dir == "" {
		return ""
	}
	return filepath.Join(s.Dir, passwordFile)
}

// With describes a client that has the secret, as the end of a sentence.
func (s *Secret) With() string {
	if s.Dir == "" {
		return "without a password"
	}
	return "with the secret in " + s.Dir
}
