package access

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/nats-io/nkeys"
	"go.yaml.in/yaml/v3"

	"turnstile/internal/input"
	"turnstile/internal/yamlfile"
)

// The files of a folder of keys, besides the key of each host and user.
const (
	authorityFile = "authority.pem" // with its private key: who makes keys needs it, and nobody else
	allowedFile   = "allowed.yaml"  // who may connect
	controlFile   = controlName + keySuffix
	keySuffix     = ".nk"
)

// allowedHead begins the list.
const allowedHead = `# Who may connect to the control plane, by name: the public part of each key.
# "orchestrator keys" writes this list, and "orchestrator control" heeds a change within a second.
# Who is not here is refused.
`

// An allowed is who may connect, by name, as the public part of the nkey.
type allowed struct {
	Control string            `yaml:"control"`
	Hosts   map[string]string `yaml:"hosts"`
	Users   map[string]string `yaml:"users"`
}

// parseAllowed reads the list.
func parseAllowed(text []byte) (*allowed, error) {
	a := &allowed{}
	if err := yamlfile.Decode(text, a); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, of := range []*map[string]string{&a.Hosts, &a.Users} {
		if *of == nil {
			*of = map[string]string{}
		}
	}
	return a, a.check()
}

// check returns an error unless all names can be, no two are the same, and each has a key of its own.
func (a *allowed) check() error {
	holders := map[string]Identity{}
	names := map[string]bool{}
	for _, c := range a.clients() {
		err := c.check()
		switch before, twice := holders[c.key]; {
		case err != nil:
			return err
		case names[c.Name]:
			return fmt.Errorf("%s is the name of a host and of a user: one key file would be both", c.Name)
		case !nkeys.IsValidPublicUserKey(c.key):
			return fmt.Errorf("%q of %v is no public key", c.key, c.Identity)
		case twice:
			return fmt.Errorf("%v and %v have the same key", before, c.Identity)
		}
		holders[c.key], names[c.Name] = c.Identity, true
	}
	return nil
}

// A client is one who may connect.
type client struct {
	Identity
	key string // the public part of its nkey
}

// clients lists all who may connect: control, if it has a key, the hosts and the users by name.
func (a *allowed) clients() (all []client) {
	if a.Control != "" {
		all = append(all, client{Identity{Control, controlName}, a.Control})
	}
	for _, name := range slices.Sorted(maps.Keys(a.Hosts)) {
		all = append(all, client{Identity{Host, name}, a.Hosts[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(a.Users)) {
		all = append(all, client{Identity{User, name}, a.Users[name]})
	}
	return all
}

// add adds a client.
func (a *allowed) add(i Identity, key string) {
	switch i.Role {
	case Control:
		a.Control = key
	case Host:
		a.Hosts[i.Name] = key
	case User:
		a.Users[i.Name] = key
	}
}

// find returns the host or the user of that name.
func (a *allowed) find(name string) (i Identity, found bool) {
	if a.Hosts[name] != "" {
		return Identity{Host, name}, true
	}
	return Identity{User, name}, a.Users[name] != ""
}

// text returns the list as a file.
func (a *allowed) text() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(allowedHead)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := errors.Join(e.Encode(a), e.Close())
	return b.Bytes(), err
}

// readAllowed reads the list of a folder. Without one, nobody may connect.
func readAllowed(dir string) (*allowed, error) {
	path := filepath.Join(dir, allowedFile)
	text, err := input.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading who may connect: %w", err)
	}
	a, err := parseAllowed(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}
