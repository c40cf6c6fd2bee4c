package mutex

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"turnstile/nodes"
)

// play runs a script on a started cluster: every message is held until the script lets it go. Steps:
//
//	req 0               client 0 asks
//	exit 0              client 0 leaves
//	0>2 request         the first held request from node 0 to node 2 arrives
//	drop 0>2 request    it is lost
//	dup 0>2 request     a copy of it is held too
//	none 0>2 request    there is none
//	in 0                client 0 is inside and no other ("in -": nobody is)
//	timeout 0           the timer that runs at node 0 runs out
//	restart 0           node 0 crashes and comes up again, and what was on its way there is lost
//	clock 0 4           the logical clock of node 0 (a maekawa) is 4
//	votes 0 3 4         the quorum of node 0 (a maekawa) is nodes 3 and 4
//	rest                everything arrives, who is inside leaves, until all is over and nobody waits
//
// What follows a # is a comment. The error names the line at which things went wrong.
func play(k *cluster, script string) error {
	for words := range steps(script) {
		if err := k.do(words); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(words, " "), err)
		}
	}
	return nil
}

// steps returns the words of each step of a script.
func steps(script string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.SplitSeq(script, "\n") {
			line, _, _ = strings.Cut(line, "#")
			for step := range strings.SplitSeq(line, ";") {
				if words := strings.Fields(step); len(words) > 0 && !yield(words) {
					return
				}
			}
		}
	}
}

// do does a step.
func (k *cluster) do(words []string) error {
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, ">") }) {
		return k.transmit(words)
	}
	return k.act(words)
}

// A maekawaForm is a maekawa or a mutant of it.
type maekawaForm interface{ form() *maekawa }

func (m *maekawa) form() *maekawa { return m }

// transmit does a step about a held message.
func (k *cluster) transmit(words []string) error {
	at := k.held(words[len(words)-2], words[len(words)-1])
	switch {
	case words[0] == "none" && at >= 0:
		return fmt.Errorf("there is %+v", k.flying[at].message)
	case words[0] == "none":
		return nil
	case at < 0:
		return fmt.Errorf("there is none:%s", k.states())
	case words[0] == "dup":
		k.flying = append(k.flying, k.flying[at])
		return nil
	}
	p := k.flying[at]
	k.flying = slices.Delete(k.flying, at, at+1)
	if words[0] == "drop" {
		return nil
	}
	return k.receive(p)
}

// act does a step about a node.
func (k *cluster) act(words []string) error {
	ids := numbers(words[1:])
	switch words[0] {
	case "req":
		return k.handle(ids[0], nodes.Input{Kind: nodes.Request})
	case "exit":
		return k.handle(ids[0], nodes.Input{Kind: nodes.Release})
	case "in":
		if inside := k.clients(nodes.Inside); !slices.Equal(inside, ids) {
			return fmt.Errorf("inside is %v:%s", inside, k.states())
		}
	case "timeout":
		timers := k.timers(nodes.SetOf(ids[0]))
		if len(timers) == 0 {
			return fmt.Errorf("no timer runs there:%s", k.states())
		}
		return k.handle(ids[0], timers[0].input)
	case "restart":
		return k.restart(ids[0])
	case "clock":
		k.nodes[ids[0]].Machine(0).(maekawaForm).form().clock = uint64(ids[1])
	case "votes":
		m := k.nodes[ids[0]].Machine(0).(maekawaForm).form()
		m.votes = nil
		for _, id := range ids[1:] {
			m.votes = append(m.votes, maekawaVote{Arbiter: id})
		}
	case "rest":
		return k.rest()
	default:
		return errors.New("unknown step")
	}
	return nil
}

// held finds the first message that "0>2 request" means, or -1.
func (k *cluster) held(link, kind string) int {
	var from, to nodes.ID
	if _, err := fmt.Sscanf(link, "%d>%d", &from, &to); err != nil {
		panic(err)
	}
	return slices.IndexFunc(k.flying, func(p packet) bool {
		return p.from == from && p.to == to && nodes.KindName(p.message) == kind
	})
}

func numbers(words []string) (ids []nodes.ID) {
	for _, w := range words {
		var id nodes.ID
		if _, err := fmt.Sscan(w, &id); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// rest lets everything arrive and everyone leave. It fails if somebody waits for ever.
func (k *cluster) rest() error {
	k.opts.entries = 0 // nobody asks any more
	for len(k.clients(nodes.Idle)) < k.c.N || !k.atRest() && !k.spec.Circulates {
		if err := k.step(); err != nil {
			return err
		}
	}
	return nil
}

// A story is a script with what it is there to show.
type story struct {
	name    string
	row     string
	n       int
	script  string
	violate bool // two come in, at the end
}

func TestStories(t *testing.T) {
	for _, s := range slices.Concat(centralStories, tokenStories, permissionStories, quorumStories) {
		t.Run(s.row+"/"+s.name, func(t *testing.T) {
			row, err := Find(s.row)
			if err != nil {
				t.Fatal(err)
			}
			k := newCluster(row, nodes.Config{N: s.n}, options{})
			if err := k.start(); err != nil {
				t.Fatal(err)
			}
			err = play(k, s.script)
			switch {
			case s.violate && !errors.Is(err, errExclusion):
				t.Errorf("two should be inside, but: %v", err)
			case !s.violate && err != nil:
				t.Error(err)
			}
		})
	}
}
