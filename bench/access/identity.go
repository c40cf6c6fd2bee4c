package access

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/chaos/place"
)

// A Role is what the holder of a key may be.
type Role string

// The roles.
const (
	Host    Role = "host"    // an agent, which serves the host of its name
	User    Role = "user"    // who orders agents
	Control Role = "control" // the server of the control plane; as a client it may ask who is there
)

// An Identity is the role and the name that the server has for a client. The zero Identity is that of a
// client without a key.
type Identity struct {
	Role Role
	Name string
}

// String returns the identity for people, such as host host-a.
func (i Identity) String() string {
	switch i.Role {
	case "":
		return "a client without a key"
	case Control:
		return "control"
	}
	return string(i.Role) + " " + i.Name
}

// controlName is the name of the one server, and of its key.
const controlName = "control"

// reserved maps names that no host and no user can have to the reason.
var reserved = map[string]string{
	controlName: "the key of the server has it",
	"alive":     "the subject ts.run.RUN.alive has it",
}

// CheckName returns an error unless a host or a user can have that name.
func CheckName(name string) error {
	if !place.IsName(name) {
		return fmt.Errorf("%q is no name of a host or a user: take 1 to 31 lower-case letters, digits and -, and "+
			"begin with a letter or a digit", name)
	}
	if why := reserved[name]; why != "" {
		return fmt.Errorf("%q cannot be the name of a host or a user: %s", name, why)
	}
	return nil
}

// check returns an error unless there can be such a client.
func (i Identity) check() error {
	switch {
	case i.Role == Control && i.Name == controlName:
		return nil
	case i.Role == Control:
		return fmt.Errorf("a control has the name %s, not %q", controlName, i.Name)
	case !slices.Contains([]Role{Host, User}, i.Role):
		return fmt.Errorf("there is no role %q: the roles are host, user and control", i.Role)
	}
	return CheckName(i.Name)
}

// Inbox returns the prefix of the subjects on which this client gets answers, which nobody else may read, as
// in _INBOX_h_host-a; the zero Identity has that of all clients of NATS.
func (i Identity) Inbox() string {
	if i.Role == "" {
		return "_INBOX"
	}
	return "_INBOX_" + string(i.Role[0]) + "_" + i.Name
}

// IsInbox reports whether this client gets answers on a subject. An orchestrator checks that before it
// answers a host. The host chooses the reply subject, and could name one on which only users may publish.
func (i Identity) IsInbox(subject string) bool { return strings.HasPrefix(subject, i.Inbox()+".") }
