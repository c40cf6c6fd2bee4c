package effect

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/suggest"
)

// A Target says which nodes a fault hits: it lists them, or has a word for them.
type Target struct {
	Nodes Group
	Word  string // if there is no list
	Many  int    // of random
	Hosts Group  // whose nodes it is, under the word host

	// servers are those of a service, which are no nodes: see Servers.
	servers *ServersOf
}

// TargetWords lists the words for targets.
var TargetWords = []struct {
	Word, Says string
	Run        bool // who it is comes out in the run; otherwise the seed and the number of nodes say so
}{
	{"all", "every node, servers included", false},
	{"random", "a client drawn by the seed; random:2 for two", false},
	{"minority", "the most clients that are fewer than half, drawn by the seed", false},
	{"majority", "the fewest clients that are more than half, drawn by the seed", false},
	{"half", "half of all nodes, or one fewer than the others, servers included, drawn by the seed", false},
	{"coordinator", "the node that the algorithm has all others ask, if it has one", false},
	{"holder", "the next client to enter its critical section, while it is inside", true},
	{"waiter", "the next client to request, while it waits", true},
	{"token", "the next node that a message brings the token", true},
	{"leader", "the node that leads then; of several the one of the highest term, or that declared itself " +
		"last; if none does, the next", true},
	{"successor", "the client after the next holder, by number", true},
}

// ParseTarget reads a target: 3, 0-2, 0-2,5, host 1, or a word. Of some faults it may be servers of a
// service, as in server 0.
func ParseTarget(text string) (Target, error) {
	if hosts, is, err := ParseHosts(text); is && (err == nil || !strings.ContainsAny(text, "/>")) {
		return Target{Word: hostWord, Hosts: hosts}, err
	}
	if strings.HasPrefix(text, serverWord+" ") {
		var s ServersOf
		err := s.UnmarshalText([]byte(text))
		return Target{Word: serverWord, servers: &s}, err
	}
	group, err := ParseGroup(text)
	switch {
	case err == nil:
		return Target{Nodes: group}, nil
	case errors.Is(err, errTwice):
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
			return Target{}, fmt.Errorf("%q is no target: did you mean %s?", text, near)
		}
		return Target{}, fmt.Errorf("%q is no target: write 3, 0-2, 0-2,5, host 1, or %s", text,
			strings.Join(words, ", "))
	case word != "random":
		many = 0
	}
	return Target{Word: word, Many: many}, nil
}

// IsZero reports whether it says nobody.
func (t Target) IsZero() bool { return len(t.Nodes) == 0 && t.Word == "" }

// Servers returns the servers of a service, a pointer to a ServersOf; nil: the target is nodes.
func (t Target) Servers() any {
	if t.servers == nil {
		return nil
	}
	return t.servers
}

// ByRun reports whether it comes out in the run who it is.
func (t Target) ByRun() bool {
	for i := range TargetWords {
		if w := &TargetWords[i]; w.Word == t.Word {
			return w.Run
		}
	}
	return false
}

// AtMoment reports whether who it is comes out at a moment in the run, such as that at which the next client
// enters. A leader may be there already.
func (t Target) AtMoment() bool { return t.ByRun() && t.Word != "leader" }

// String writes the target as ParseTarget reads it.
func (t Target) String() string {
	switch {
	case t.Word == "":
		return t.Nodes.String()
	case t.servers != nil:
		return serverWord + " " + t.servers.String()
	case len(t.Hosts) > 0:
		return hostsText(t.Hosts)
	case t.Many > 1:
		return fmt.Sprintf("%s:%d", t.Word, t.Many)
	}
	return t.Word
}

// Short writes the target for people: of many nodes the first few.
func (t Target) Short() string {
	if t.Word == "" {
		return t.Nodes.Short()
	}
	return t.String()
}

// MarshalText writes the target as ParseTarget reads it.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText is ParseTarget in place.
func (t *Target) UnmarshalText(text []byte) (err error) {
	*t, err = ParseTarget(string(text))
	return err
}
