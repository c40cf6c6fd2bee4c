package service

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"turnstile/nodes/foreign/program"
)

// A counted lock counts its calls. Every third try is refused, and Release fails if broken.
type counted struct {
	tries, releases int
	broken          bool
}

func (c *counted) Acquire(context.Context) (program.Grant, error) {
	if c.tries++; c.tries%3 == 0 {
		return program.Grant{}, program.ErrRefused
	}
	return program.Grant{}, nil
}

func (c *counted) Release(context.Context) error {
	if c.releases++; c.broken {
		return errors.New("it is broken")
	}
	return nil
}

func (c *counted) Close() error { return nil }

func TestDirect(t *testing.T) {
	lock := &counted{}
	var asked program.Setting
	s := &Service{Name: "counted", Open: Opens(func(_ context.Context, s program.Setting, _ Values) (
		*counted, error) {
		asked = s
		return lock, nil
	})}
	table := Table{Services: []*Service{s, {Name: "elects"}}}
	for _, c := range []struct{ args, want string }{
		{"direct elects --endpoint a:1", "elects grants no lock"},
		{"direct counted", "add --endpoint"},
		{"direct counted --endpoint a:1 --for 0s", "--for 0s"},
	} {
		var out, wrong strings.Builder
		status := table.Call(strings.Fields(c.args), nil, &out, &wrong)
		if status != 64 || !strings.Contains(wrong.String(), c.want) {
			t.Errorf("%s: %d, %s", c.args, status, wrong.String())
		}
	}
	var out, wrong strings.Builder
	args := strings.Fields("direct counted --endpoint a:1,b:2 --for 20ms")
	if status := table.Call(args, nil, &out, &wrong); status != 0 {
		t.Fatal(wrong.String())
	}
	var d Direct
	if err := json.Unmarshal([]byte(out.String()), &d); err != nil {
		t.Fatal(err)
	}
	if d.Entries == 0 || d.Entries > lock.releases || d.Seconds < 0.02 || len(asked.Options.Servers) != 2 {
		t.Errorf("%+v of %+v, asked for %+v", d, lock, asked)
	}
	lock.broken = true
	if status := table.Call(args, nil, &out, &wrong); status != 2 {
		t.Errorf("a lock that cannot be given back: status %d", status)
	}
}
