package host_test

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/host"
)

// A shouter sends messages that are too large for the broker.
type shouter struct{}

type shouterMessage struct{ Text string }

func (*shouter) Request(env *nodes.Env) {
	env.Broadcast(shouterMessage{strings.Repeat("!", 1<<21)})
}
func (*shouter) Release(*nodes.Env)                          {}
func (*shouter) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

// A node that cannot go on ends at once, though nothing comes that would wake it up.
func TestHostEndsWithAnError(t *testing.T) {
	s := beginStack(t, stackOf(t, &algorithm.Algorithm{Spec: nodes.Spec{
		Messages: []nodes.MessageKind{{Zero: shouterMessage{}}},
		New:      func(nodes.Config) nodes.Machine { return &shouter{} },
	}}, 2), nil)
	s.order(host.Order{Do: host.Issue, Begin: 1})
	if err := s.wait(s.ends[0]); err == nil || !strings.Contains(err.Error(), "publishing to") {
		t.Errorf("the host ends with %v", err)
	}
}

func TestHostEndsWithItsBroker(t *testing.T) {
	s := begin(t, "ricart-agrawala", 1, nil)
	s.broker.Shutdown()
	err := s.wait(s.ends[0])
	if err == nil || !strings.Contains(err.Error(), "the connection to the broker is closed") {
		t.Errorf("the host ends with %v", err)
	}
}
