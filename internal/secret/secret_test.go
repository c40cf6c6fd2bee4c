package secret

import (
	"crypto/tls"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"turnstile/internal/certs"
)

// A secret is read as it was made, from files that only this user can read. Each is another. A server and a
// client with one secret connect, and a client with another secret refuses the server.
func TestSecret(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	made, err := Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(dir)
	if err != nil || read.Password != made.Password || read.Pair.Key != made.Pair.Key || read.Password == "" {
		t.Errorf("%+v was made, and %+v is read (%v)", made, read, err)
	}
	files, err := os.ReadDir(dir)
	info, wrong := os.Stat(dir)
	if errors.Join(err, wrong) != nil || len(files) != 3 || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has %d files (%v, %v), and the mode %v", len(files), err, wrong, info.Mode())
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	other, err := Make(filepath.Join(t.TempDir(), "secrets"))
	if err != nil || other.Password == made.Password || other.Pair.Key == made.Pair.Key {
		t.Errorf("another secret is %+v (%v)", other, err)
	}
	if _, err := Make(dir); err == nil {
		t.Error("a secret was made in the folder of another")
	}
	serves, err := made.Config()
	if err != nil {
		t.Fatal(err)
	}
	serves.ClientAuth = tls.RequireAnyClientCert
	l, err := tls.Listen("tcp", "127.0.0.1:0", serves)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go io.Copy(c, c) // which begins with the handshake
		}
	}()
	for s, want := range map[*Secret]error{&read: nil, other: certs.ErrPin} {
		config, err := s.Config()
		if err != nil {
			t.Fatal(err)
		}
		c, err := tls.Dial("tcp", l.Addr().String(), config)
		if !errors.Is(err, want) {
			t.Errorf("a client: %v, not %v", err, want)
		}
		if err == nil {
			c.Close()
		}
	}
}

// Servers of somebody else may demand nothing. A folder without a secret is an error.
func TestNoSecret(t *testing.T) {
	s, err := Read("")
	if config, wrong := s.Config(); err != nil || wrong != nil || config != nil || s.PasswordFile() != "" {
		t.Errorf("no secret is %+v, %+v (%v, %v)", s, config, err, wrong)
	}
	if _, err := Read(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder without a secret: %v", err)
	}
}
