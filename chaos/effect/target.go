package effect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/suggest"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Target says which members of a cluster a fault hits: it lists them, or has a word for them.
type Target struct {
	Role  port.Role
	List  nodes.Group
	Word  string      // a word, used instead of a list
	Many  int         // for the word random: how many clients it draws
	Hosts nodes.Group // for the word host: the hosts whose nodes it means
}

// The words for servers of a service.
const (
	// AllServers are the servers that are not on another side of the cut.
	AllServers = "servers"
	// LeadingServer is the server that leads, or is the primary, when the fault begins.
	LeadingServer = "leader"
	// ServerOfHolder is the server that last answered the next client to enter.
	ServerOfHolder = "of holder"
)

// TargetWords lists the words for targets that are nodes.
var TargetWords = []struct {
	Word, Says string
	Run        bool // the run determines the node; otherwise the seed and the number of nodes do
}{
	{"all", "every node: clients and servers of an algorithm, not of a service", false},
	{"random", "a client drawn by the seed; random:2 for two", false},
	{"minority", "the largest minority of clients, drawn by the seed", false},
	{"majority", "the smallest majority of clients, drawn by the seed", false},
	{"half", "half of all nodes (see all), rounded down, drawn by the seed", false},
	{"coordinator", "the node that the algorithm has all others ask, if it has one", false},
	{"holder", "the next client to enter its critical section, while it is inside", true},
	{"waiter", "the next client to request, while it waits", true},
	{"token", "the next node to which a message brings the token", true},
	{"leader", "the leader when the fault begins; of several, that of the highest term, or the latest; if " +
		"no node leads, the next leader", true},
	{"successor", "the client after the next holder, by number", true},
}

// ParseTarget reads a target: 3, 0-2, 0-2,5, host 1, a word, broker 0, or server 0-1, server leader and
// server of holder.
func ParseTarget(text string) (Target, error) {
	if hosts, is, err := ParseHosts(text); is && (err == nil || !strings.ContainsAny(text, "/>")) {
		return Target{Word: hostWord, Hosts: hosts}, err
	}
	for _, role := range []port.Role{port.Broker, port.Server} {
		if strings.HasPrefix(text, role.String()+" ") {
			return parseMembers(role, text)
		}
	}
	group, err := nodes.ParseGroup(text)
	switch {
	case err == nil:
		return Target{List: group}, nil
	case errors.Is(err, nodes.ErrTwice):
		return Target{}, err
	}
	var words []string
	for _, w := range TargetWords {
		words = append(words, w.Word)
	}
	word, number, counted := strings.Cut(text, ":")
	many := 1
	if counted && word == "random" {
		n, err := strconv.ParseUint(number, 10, 20)
		if err != nil || n == 0 {
			return Target{}, fmt.Errorf("%q: write how many nodes are drawn, as in random:2", text)
		}
		many, counted = int(n), false
	}
	switch {
	case !slices.Contains(words, word) || counted:
		if near := suggest.Nearest(word, words); near != "" {
			return Target{}, fmt.Errorf("%q is not a target: did you mean %s?", text, near)
		}
		return Target{}, fmt.Errorf("%q is not a target: write 3, 0-2, 0-2,5, host 1, broker 0, server 0, server "+
			"leader, or %s", text,
			strings.Join(words, ", "))
	case word != "random":
		many = 0
	}
	return Target{Word: word, Many: many}, nil
}

// parseMembers reads brokers or servers: 0, 0-1 or 0,2, or leader or of holder for servers. The word for the
// role may come first.
func parseMembers(role port.Role, text string) (Target, error) {
	list := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), role.String()+" "))
	t := Target{Role: role}
	words := ""
	if role == port.Server {
		if list == LeadingServer || list == ServerOfHolder {
			t.Word = list
			return t, nil
		}
		words = fmt.Sprintf(", %s %s or %s %s", role, LeadingServer, role, ServerOfHolder)
	}
	var err error
	if t.List, err = nodes.ParseGroup(list); err != nil {
		err = fmt.Errorf("%q names no %ss: write %[2]s 0, %[2]s 0-1 or %[2]s 0,2, each once%s", text, role, words)
	}
	return t, err
}

// IsZero reports whether the target is empty.
func (t Target) IsZero() bool { return len(t.List) == 0 && t.Word == "" }

// ByRun reports whether the target is a node that the run determines.
func (t Target) ByRun() bool {
	if t.Role != port.Node {
		return false
	}
	for i := range TargetWords {
		if w := &TargetWords[i]; w.Word == t.Word {
			return w.Run
		}
	}
	return false
}

// AtMoment reports whether a later moment of the run determines the node, as when the next client enters. The
// word leader does not count, since a leader may exist already.
func (t Target) AtMoment() bool { return t.ByRun() && t.Word != "leader" }

// String writes the target as ParseTarget reads it.
func (t Target) String() string {
	switch {
	case t.Word == AllServers:
		return t.Word
	case t.Role != port.Node && !t.IsZero():
		return t.Role.String() + " " + cmp.Or(t.Word, t.List.String())
	case t.Word == "":
		return t.List.String()
	case len(t.Hosts) > 0:
		return hostsText(t.Hosts)
	case t.Many > 1:
		return fmt.Sprintf("%s:%d", t.Word, t.Many)
	}
	return t.Word
}

// Short writes the target for people: only the first few of many nodes.
func (t Target) Short() string {
	if t.Word == "" && t.Role == port.Node {
		return t.List.Short()
	}
	return t.String()
}

// MarshalText writes the target as ParseTarget reads it.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText sets t to the target that ParseTarget reads.
func (t *Target) UnmarshalText(text []byte) (err error) {
	*t, err = ParseTarget(string(text))
	return err
}
