// Package access controls access to the control plane of a lab. A lab has one key (Make): a secret, which
// each client sends to the server, and the pin of the server's certificate. A client checks the pin before it
// sends the secret. The key permits everything on the control plane. Serve runs the server, and Connect
// connects to it. Without a key, both use only loopback addresses.
package access

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"turnstile/internal/broker"
	"turnstile/internal/certs"
	"turnstile/internal/input"
	"turnstile/internal/pattern"
)

// The files of a folder of keys.
const (
	LabFile     = "lab.key"     // the lab's key, for each host and each user
	ControlFile = "control.key" // the server's certificate with its private key, for the server only
)

// A key is the key of a lab.
type key struct {
	secret string // secret that clients send to the server
	pin    string // pin of the server's certificate: see certs.Pin
}

// labForm is the text of LabFile.
const labForm = `# The key of a lab of Turnstile. It gives full control of all its hosts: keep it secret.
secret: %s
pin: %s
`

var labParts = pattern.Of(`(?m)^secret: ([0-9a-f]{32})\npin: ([0-9a-f]{64})$`)

// Make makes the key of a lab in a folder, and the folder if it is missing. It replaces no file. If both
// files exist already, it returns false.
func Make(dir string) (made bool, err error) {
	lab, control := filepath.Join(dir, LabFile), filepath.Join(dir, ControlFile)
	_, noLab := os.Lstat(lab)
	_, noControl := os.Lstat(control)
	switch {
	case noLab == nil && noControl == nil:
		return false, nil
	case noLab == nil || noControl == nil:
		return false, fmt.Errorf("only one of %s and %s exists, and it is not replaced: put the other back, or "+
			"name another folder", lab, control)
	}
	pair, err := certs.New("Turnstile control")
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("making the folder of keys: %w", err)
	}
	if err := create(control, pair.Cert+pair.Key); err != nil {
		return false, err
	}
	if err := create(lab, fmt.Sprintf(labForm, broker.NewToken(), pair.Pin)); err != nil {
		return false, errors.Join(err, os.Remove(control))
	}
	return true, nil
}

// create writes a new file that only this user can read.
func create(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing a key: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}

// readKey reads the key of a lab. Its errors never contain the secret.
func readKey(path string) (*key, error) {
	text, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	parts := labParts().FindSubmatch(text)
	if parts == nil {
		return nil, notKey(path)
	}
	return &key{string(parts[1]), string(parts[2])}, nil
}

func notKey(path string) error {
	return fmt.Errorf("%s is not the key of a lab: `orchestrator hosts keys DIR` makes one, as DIR/%s", path,
		LabFile)
}

// readSecret reads a file of a folder of keys. It returns an error if other users can read or change the
// file.
func readSecret(path string) ([]byte, error) {
	file, err := input.Open(path)
	switch {
	case errors.Is(err, input.ErrNoFile):
		return nil, notKey(path)
	case err != nil:
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("other users can read or change the key %s (its mode is %04o): chmod 600 %[1]s, "+
			"and if they may have read it, make another", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(file, 1<<16)) // a key is shorter than this limit
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	return text, nil
}
