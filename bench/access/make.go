package access

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"turnstile/internal/certs"
	"turnstile/internal/input"
)

// How long certificates are valid. Keys do not expire: they are revoked.
const (
	authorityYears = 10
	serverYears    = 2
	year           = 365 * 24 * time.Hour
)

// A Request says which keys Make adds to a folder, revokes or renews.
type Request struct {
	// Control is where clients reach the server: DNS names and IP addresses, without a port. This machine's own
	// loopback addresses come by themselves. The first call needs it, and later ones with Renew may have it.
	Control []string
	Hosts   []string // names of hosts that get a key
	Users   []string // names of users that get a key
	Revoke  []string // names of hosts and users that are refused from now on, and whose key files are deleted
	Renew   bool     // make the certificate of the server anew; its key stays
	Missing bool     // make keys only for Hosts and Users that have none yet
}

// A Made is what Make has done.
type Made struct {
	Began   bool       // the folder had no authority, and has one now
	Files   []KeyFile  // that are new or renewed
	Kept    []Identity // that Missing left out
	Revoked []string   // names
	Control []string   // where the certificate of the server is valid, if it is new
	Until   time.Time  // and until when
}

// A KeyFile is whose key a file holds.
type KeyFile struct {
	Identity
	Path string
}

// FirstUser is the user who gets a key when the first call on a folder names no user.
const FirstUser = "me"

// Make makes keys in a folder, and the folder and its authority if there are none. It replaces no key: a host
// or user gets another key after the first was revoked. If Make returns an error, it leaves no key of this
// call, and the control plane accepts the same clients as before.
func Make(dir string, r Request) (*Made, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if err := f.make(&r); err != nil {
		f.undo()
		return nil, err
	}
	return &f.made, nil
}

// check looks at what needs no folder.
func (r *Request) check() error {
	seen := map[string]bool{}
	for _, name := range slices.Concat(r.Hosts, r.Users) {
		if err := CheckName(name); err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%s is named twice: each host and each user has a key of its own", name)
		}
		seen[name] = true
	}
	for _, name := range r.Revoke {
		if err := CheckName(name); err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%s is to be revoked and to get a key: revoke the old one first, and make the new one "+
				"by a second call", name)
		}
	}
	for i, host := range r.Control {
		if net.ParseIP(host) == nil && !hostForm.MatchString(strings.ToLower(host)) || len(host) > 253 {
			return fmt.Errorf("%q is no DNS name or IP address of a machine: write it without a port, as in control "+
				"or 10.0.0.5", host)
		}
		r.Control[i] = strings.ToLower(host)
	}
	return nil
}

// hostForm is what DNS names look like. Docker makes some with underscores.
var hostForm = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*$`)

// make does what is asked for.
func (f *folder) make(r *Request) error {
	if err := f.openAuthority(r); err != nil {
		return err
	}
	if !f.made.Began && len(r.Hosts)+len(r.Users)+len(r.Revoke) == 0 && !r.Renew && len(r.Control) == 0 {
		return fmt.Errorf("there is nothing to make: %s has an authority; name hosts or users that are to get keys",
			f.dir)
	}
	var gone []string
	for _, name := range r.Revoke {
		i, found := f.allowed.find(name)
		if !found {
			return fmt.Errorf("%s has no key that could be revoked: %s does not list it", name, f.path(allowedFile))
		}
		delete(f.allowed.Hosts, i.Name)
		delete(f.allowed.Users, i.Name)
		gone = append(gone, f.path(name+keySuffix))
		f.made.Revoked = append(f.made.Revoked, name)
	}
	if err := f.makeControl(r); err != nil {
		return err
	}
	for _, name := range r.Hosts {
		if err := f.makeKey(Identity{Host, name}, r.Missing); err != nil {
			return err
		}
	}
	for _, name := range r.Users {
		if err := f.makeKey(Identity{User, name}, r.Missing); err != nil {
			return err
		}
	}
	text, err := f.allowed.text()
	if err == nil {
		err = cmp.Or(f.allowed.check(), f.replace(allowedFile, text))
	}
	if err != nil {
		return err
	}
	f.created = nil // they are in force
	for _, path := range gone {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the key is revoked, but its file is still there: %w", err)
		}
	}
	return nil
}

// openAuthority reads the authority, or makes it if the folder has none.
func (f *folder) openAuthority(r *Request) (err error) {
	if f.allowed, err = readAllowed(f.dir); err != nil {
		return err
	}
	path := f.path(authorityFile)
	text, err := input.Read(path)
	switch {
	case err == nil:
		cert, private, _ := strings.Cut(string(text), "-----BEGIN PRIVATE KEY")
		f.authority, err = certs.ReadAuthority(certs.Pair{Cert: cert, Key: "-----BEGIN PRIVATE KEY" + private})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading the authority: %w", err)
	case len(f.allowed.clients()) > 0:
		return fmt.Errorf("%s lists who has a key, and their authority is not there: put %s back, or take another "+
			"folder", f.path(allowedFile), authorityFile)
	case len(r.Control) == 0:
		return fmt.Errorf("%s has no keys yet: say where the server of the control plane will be reached, as in "+
			"--control control.example.org,10.0.0.5 (or --control localhost)", f.dir)
	}
	f.made.Began = true
	if len(r.Users) == 0 && !slices.Contains(r.Hosts, FirstUser) {
		r.Users = []string{FirstUser}
	}
	name := "Turnstile keys of " + time.Now().UTC().Format(time.DateTime)
	if f.authority, err = certs.NewAuthority(name, certs.SpanOf(authorityYears*year)); err != nil {
		return err
	}
	p := f.authority.Pair()
	return f.create(authorityFile, []byte(p.Cert+p.Key))
}

// makeControl makes the key of the server if there is none, or its certificate anew.
func (f *folder) makeControl(r *Request) error {
	if f.allowed.Control == "" {
		if len(r.Control) == 0 {
			return errors.New("the server has no key yet: say where it will be reached, as in --control localhost")
		}
		k, err := newKey(Identity{Control, controlName}, f.authority.Certificate())
		if err == nil {
			err = f.certify(k, r.Control)
		}
		if err != nil {
			return err
		}
		return f.add(k)
	}
	if !r.Renew && len(r.Control) == 0 {
		return nil
	}
	k, err := readKey(f.path(controlFile))
	if err != nil {
		return err
	}
	old, err := certs.Read(k.server.Cert)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path(controlFile), err)
	}
	at := hostsOf(old)
	if len(r.Control) == 0 {
		r.Control = at
	}
	if !r.Renew {
		if missing := notIn(r.Control, at); len(missing) > 0 {
			return fmt.Errorf("the certificate of the server is valid at %s, and not at %s: add --renew to have it "+
				"made anew; all keys stay as they are", strings.Join(at, ", "), strings.Join(missing, ", "))
		}
		return nil
	}
	if err := f.certify(k, r.Control); err != nil {
		return err
	}
	text, err := k.text()
	if err != nil {
		return err
	}
	f.made.Files = append(f.made.Files, KeyFile{k.Identity, f.path(controlFile)})
	return f.replace(controlFile, text)
}

// notIn returns which of some words are not among others.
func notIn(words, others []string) (missing []string) {
	for _, w := range words {
		if !slices.Contains(others, w) {
			missing = append(missing, w)
		}
	}
	return missing
}

// certify has the authority sign a certificate for the server.
func (f *folder) certify(k *key, hosts []string) (err error) {
	for _, loopback := range []string{"localhost", "127.0.0.1", "::1"} {
		if !slices.Contains(hosts, loopback) {
			hosts = append(slices.Clone(hosts), loopback)
		}
	}
	valid := certs.SpanOf(serverYears * year)
	k.server, err = f.authority.Issue("Turnstile control", hosts, valid)
	f.made.Control, f.made.Until = hosts, valid.To
	return err
}

// makeKey makes the key of a host or a user, unless one that it has is to be kept.
func (f *folder) makeKey(i Identity, keep bool) error {
	switch before, there := f.allowed.find(i.Name); {
	case there && keep && before == i:
		f.made.Kept = append(f.made.Kept, i)
		return nil
	case there:
		return fmt.Errorf("%v has a key already: it stays as it is; take another name, or revoke that key first",
			before)
	}
	k, err := newKey(i, f.authority.Certificate())
	if err != nil {
		return err
	}
	return f.add(k)
}

// add writes the file of a new key, and lists it.
func (f *folder) add(k *key) error {
	public, err := k.public()
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	text, err := k.text()
	if err != nil {
		return err
	}
	if err := f.create(k.Name+keySuffix, text); err != nil {
		return err
	}
	f.allowed.add(k.Identity, public)
	f.made.Files = append(f.made.Files, KeyFile{k.Identity, f.path(k.Name + keySuffix)})
	return nil
}
