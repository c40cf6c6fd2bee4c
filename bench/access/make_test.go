package access

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nkeys"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// overwrite writes a file, with the mode that it has.
func overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// contents returns the files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		files[e.Name()] = read(t, filepath.Join(dir, e.Name()))
	}
	return files
}

// A folder of keys has what clients and the server need, for this user alone.
func TestMake(t *testing.T) {
	dir := makeKeys(t)
	files := contents(t, dir)
	if got, want := slices.Sorted(maps.Keys(files)), strings.Fields("a.nk allowed.yaml authority.pem b.nk "+
		"control.nk me.nk"); !slices.Equal(got, want) {
		t.Errorf("there are %q, not %q", got, want)
	}
	for name := range files {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has the mode %v, %v", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has the mode %v, %v", info.Mode(), err)
	}
	for _, want := range []Identity{{Host, "a"}, {User, "me"}, {Control, "control"}} {
		name := want.Name
		path := filepath.Join(dir, name+keySuffix)
		k, err := readKey(path)
		if err != nil || k.Identity != want {
			t.Errorf("%s is the key of %v, %v", name, k, err)
			continue
		}
		if name != "control" && (k.server.Key != "" || strings.Contains(files[name+keySuffix], "PRIVATE KEY")) {
			t.Errorf("%s has the private key of the server", name)
		}
		if seed, err := k.pair.Seed(); err != nil || strings.Contains(files[allowedFile], string(seed)) {
			t.Errorf("the seed of %s is in the list: %v", name, err)
		}
		// The tools of NATS take the file as the seed, and as the certificate of the authority.
		theirs, err := nkeys.ParseDecoratedNKey([]byte(files[name+keySuffix]))
		if err != nil {
			t.Fatal(err)
		}
		if ours, _ := k.public(); ours == "" || ours != must(t, theirs.PublicKey) {
			t.Errorf("others read another key from %s", path)
		}
		if !x509.NewCertPool().AppendCertsFromPEM([]byte(files[name+keySuffix])) {
			t.Errorf("others find no certificate in %s", path)
		}
	}
}

// Two names get separate inboxes, even if one name is a prefix of the other.
func TestInboxes(t *testing.T) {
	a, ab := Identity{Host, "a"}, Identity{Host, "ab"}
	for subject, is := range map[string]bool{a.Inbox() + ".x": true, ab.Inbox() + ".x": false, a.Inbox(): false,
		Identity{User, "a"}.Inbox() + ".x": false, "ts.host.b.order": false} {
		if a.IsInbox(subject) != is {
			t.Errorf("%s is an inbox of %v: %v", subject, a, !is)
		}
	}
}

func must(t *testing.T, f func() (string, error)) string {
	t.Helper()
	s, err := f()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Later calls add keys, and change none.
func TestMakeAgain(t *testing.T) {
	dir := makeKeys(t)
	before := contents(t, dir)
	made, err := Make(dir, Request{Hosts: []string{"c"}})
	want := []KeyFile{{Identity{Host, "c"}, filepath.Join(dir, "c.nk")}}
	if err != nil || made.Began || !slices.Equal(made.Files, want) {
		t.Fatalf("it has made %+v, %v", made, err)
	}
	after := contents(t, dir)
	for name, text := range before {
		if name != allowedFile && after[name] != text {
			t.Errorf("%s has changed", name)
		}
	}
	if _, err := Make(dir, Request{Control: []string{"control"}, Renew: true}); err != nil {
		t.Fatal(err)
	}
	old, _ := parseKey([]byte(before[controlFile]))
	renewed, err := readKey(filepath.Join(dir, controlFile))
	if err != nil || must(t, renewed.public) != must(t, old.public) || renewed.authority != old.authority ||
		renewed.server == old.server {
		t.Errorf("a renewed certificate changes more than itself, or nothing: %v", err)
	}
	if _, err := Make(dir, Request{Control: []string{"control"}, Users: []string{"you"}}); err != nil {
		t.Errorf("a call says where control is, which is so: %v", err)
	}
	if _, err := Make(dir, Request{Revoke: []string{"c", "me"}}); err != nil {
		t.Fatal(err)
	}
	after = contents(t, dir)
	if after["c.nk"]+after["me.nk"] != "" || strings.Contains(after[allowedFile], "  me:") {
		t.Errorf("what was revoked is there:\n%s", after[allowedFile])
	}
}

// A key is revoked though its file cannot be deleted, and the others that were asked for are there.
func TestRevokedKeyStays(t *testing.T) {
	dir := makeKeys(t)
	path := filepath.Join(dir, "a.nk")
	err := os.Remove(path)
	if err == nil {
		err = os.MkdirAll(filepath.Join(path, "x"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = Make(dir, Request{Hosts: []string{"c"}, Revoke: []string{"a"}})
	if err == nil || !strings.Contains(err.Error(), "the key is revoked, but its file is still there") {
		t.Error(err)
	}
	_, err = readKey(filepath.Join(dir, "c.nk"))
	if a, listed := readAllowed(dir); err != nil || listed != nil || a.Hosts["a"] != "" || a.Hosts["c"] == "" {
		t.Errorf("%v may connect, %v, %v", a, err, listed)
	}
}

// Make refuses an invalid request with a reason, and leaves the folder unchanged.
func TestMakeRefuses(t *testing.T) {
	dir := makeKeys(t)
	overwrite(t, filepath.Join(dir, "left.nk"), "key")
	list := func(names ...string) []string { return names }
	for says, r := range map[string]Request{
		"host a has a key already":                       {Hosts: list("new", "a")},
		"user me has a key already":                      {Hosts: list("new", "me")},
		"left.nk is there, and is not replaced":          {Hosts: list("new", "left")},
		"x is named twice":                               {Hosts: list("x"), Users: list("x")},
		`"../x" is no name`:                              {Hosts: list("new", "../x")},
		`".." is no name`:                                {Users: list("..")},
		`"a.b" is no name`:                               {Users: list("a.b")},
		`"*" is no name`:                                 {Users: list("*")},
		`">" is no name`:                                 {Revoke: list(">")},
		`"A" is no name`:                                 {Hosts: list("A")},
		`"" is no name`:                                  {Hosts: list("")},
		`"a\n" is no name`:                               {Hosts: list("a\n")},
		`"control" cannot be the name`:                   {Hosts: list("control")},
		`"alive" cannot be the name`:                     {Hosts: list("alive")},
		"q has no key that could be revoked":             {Hosts: list("new"), Revoke: list("q")},
		"a is to be revoked and to get a key":            {Hosts: list("a"), Revoke: list("a")},
		"there is nothing to make":                       {},
		`"control:4222" is no DNS name or IP address`:    {Control: list("control:4222")},
		`"tls://control" is no DNS name`:                 {Control: list("tls://control")},
		`"*.example.org" is no DNS name`:                 {Control: list("*.example.org")},
		"is valid at localhost, 127.0.0.1, ::1, and not": {Control: list("elsewhere"), Hosts: list("new")},
	} {
		before := contents(t, dir)
		made, err := Make(dir, r)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: it has made %v, %v; not %q", r, made, err, says)
		}
		if !maps.Equal(before, contents(t, dir)) {
			t.Errorf("%+v has changed the folder", r)
		}
	}
	for says, spoil := range map[string]func(dir string) error{
		"chmod 700":                         func(dir string) error { return os.Chmod(dir, 0o770) },
		"put authority.pem back":            func(dir string) error { return os.Remove(dir + "/" + authorityFile) },
		"authority.pem: this is":            func(dir string) error { return os.Truncate(dir+"/authority.pem", 9) },
		"is no folder: keys lie":            func(dir string) error { return swapForFile(dir) },
		"no keys yet: say where the server": func(dir string) error { return os.RemoveAll(dir) },
	} {
		dir := makeKeys(t)
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Make(dir, Request{Hosts: list("new")}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it says %v, not %q", err, says)
		}
	}
}

// swapForFile puts a file where a folder was.
func swapForFile(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.WriteFile(dir, nil, 0o600)
}

// Calls at the same time each add their key.
func TestMakeAtOnce(t *testing.T) {
	dir := makeKeys(t)
	names := strings.Fields("p q r s t u v w")
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			if _, err := Make(dir, Request{Hosts: []string{name}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	a, err := readAllowed(dir)
	if err != nil || len(a.Hosts) != 2+len(names) {
		t.Errorf("%v may connect, %v", a, err)
	}
}

// A list that somebody has changed by hand means what it says, or is refused.
func TestAllowedIsChecked(t *testing.T) {
	dir := makeKeys(t)
	good, err := readAllowed(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, b := good.Hosts["a"], good.Hosts["b"]
	for text, says := range map[string]string{
		"hosts: {../a: " + a + "}":                     "is no name",
		"hosts: {'*': " + a + "}":                      "is no name",
		"hosts: {a: SUAAAA}":                           "is no public key",
		"hosts: {a: " + a + ", b: " + a + "}":          "host a and host b have the same key",
		"hosts: {a: " + a + "}\nusers: {a: " + b + "}": "the name of a host and of a user",
		"host: {a: " + a + "}":                         "hosts",
		"hosts: {a: " + a + "}":                        "",
		"":                                             "",
	} {
		_, err := parseAllowed([]byte(text))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("of %q it says %v, not %q", text, err, says)
		}
	}
}

// A call for the keys that are missing makes these alone, and says which it has kept. A name of another role
// is no key that is there.
func TestMakeMissing(t *testing.T) {
	dir := makeKeys(t)
	before := contents(t, dir)
	made, err := Make(dir, Request{Hosts: []string{"a", "c"}, Users: []string{"me"}, Missing: true})
	if err != nil {
		t.Fatal(err)
	}
	kept := []Identity{{Host, "a"}, {User, "me"}}
	if !slices.Equal(made.Kept, kept) || len(made.Files) != 1 || made.Files[0].Name != "c" {
		t.Errorf("it made %v and kept %v", made.Files, made.Kept)
	}
	after := contents(t, dir)
	if after["a.nk"] != before["a.nk"] || after["me.nk"] != before["me.nk"] || after["c.nk"] == "" {
		t.Error("a key that was there is another, or one is missing")
	}
	if _, err := Make(dir, Request{Users: []string{"a"}, Missing: true}); err == nil {
		t.Error("the key of a host is taken for that of a user")
	}
}
