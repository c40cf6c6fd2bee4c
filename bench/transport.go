package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"turnstile/bench/cluster"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A transport is what carries the messages of a run: brokers, to which the nodes are spread in turn, and
// perhaps proxies in between; or a NATS server of somebody else.
type transport struct {
	server    string           // the URL of that
	brokers   *cluster.Brokers // nil: the server
	proxies   *cluster.Proxies // nil: none
	addresses []string         // of the proxy of each node
}

// brokerCount returns how many brokers of its own a run has, if it has any.
func (o *Options) brokerCount() int { return max(1, o.Brokers) }

// carriers returns how many processes carry the messages of a run.
func (o *Options) carriers() int {
	if o.Proxies {
		return o.brokerCount() + 1
	}
	return o.brokerCount()
}

// checkTransport says what is wrong with what is to carry the messages.
func (o *Options) checkTransport() error {
	switch {
	case o.Brokers != 0 && o.Brokers != 1 && o.Brokers != 3:
		return fmt.Errorf("%d brokers: a run has 1 or 3", o.Brokers)
	case o.NATS != "" && o.Brokers > 1:
		return fmt.Errorf("%d brokers of the run's own, and a NATS server: leave out one of --brokers and --nats",
			o.Brokers)
	case o.NATS != "" && o.Proxies:
		return errors.New("proxies, which are for brokers of the run's own, and a NATS server: leave out one of " +
			"--proxies and --nats")
	}
	return nil
}

// launch starts the processes that carry the messages of a run.
func (t *transport) launch(ctx context.Context, l *cluster.Launcher, s Setup, o *Options,
	spec *nodes.Spec) (err error) {
	if o.Proxies {
		if t.proxies, err = cluster.LaunchProxies(ctx, l, s.Proxy); err != nil {
			return err
		}
	}
	if t.brokers, err = cluster.LaunchBrokers(ctx, l, s.Broker, o.brokerCount(), t.proxies); err != nil {
		return err
	}
	if t.proxies == nil {
		return nil
	}
	for id := range nodes.ID(o.total(spec)) {
		upstream := strings.TrimPrefix(t.brokers.URL(t.brokerOf(id)), natsScheme)
		at, err := t.proxies.Add(ctx, connectionName(id), upstream)
		if err != nil {
			return err
		}
		t.addresses = append(t.addresses, at)
	}
	return nil
}

const natsScheme = "nats://"

// connectionName names the proxy between a node and its broker.
func connectionName(id nodes.ID) string { return fmt.Sprintf("node %d", id) }

// close ends those processes.
func (t *transport) close() {
	if t.brokers != nil {
		t.brokers.Close()
	}
	if t.proxies != nil {
		t.proxies.Close()
	}
}

// own reports whether the run's own processes carry the messages.
func (t *transport) own() bool { return t.brokers != nil }

// brokerOf returns which broker a node connects to.
func (t *transport) brokerOf(id nodes.ID) int { return int(id) % t.brokers.Count() }

// url returns the URL that a node connects to, and token the credential.
func (t *transport) url(id nodes.ID) string {
	switch {
	case t.brokers == nil:
		return t.server
	case t.proxies != nil:
		return natsScheme + t.addresses[id]
	}
	return t.brokers.URL(t.brokerOf(id))
}

func (t *transport) token() string {
	if t.brokers == nil {
		return ""
	}
	return t.brokers.Token()
}

// named returns the processes that carry the messages now, by their names in histories.
func (t *transport) named() iter.Seq2[uint32, *cluster.Process] {
	return func(yield func(uint32, *cluster.Process) bool) {
		for i := 0; t.brokers != nil && i < t.brokers.Count(); i++ {
			if !yield(history.BrokerAmong(i, t.brokers.Count()), t.brokers.Process(i)) {
				return
			}
		}
		if t.proxies != nil {
			yield(history.Proxies, t.proxies.Process())
		}
	}
}

// processes returns these processes.
func (t *transport) processes() (all []*cluster.Process) {
	for _, p := range t.named() {
		all = append(all, p)
	}
	return all
}

// readUsage reads what has been used of the processors.
func (t *trial) readUsage() cluster.Usage {
	var carriers []*cluster.Process
	if t.transport.own() {
		carriers = t.transport.brokers.Processes()
	}
	if p := t.transport.proxies; p != nil {
		carriers = append(carriers, p.Process())
	}
	return cluster.ReadUsage(carriers, t.everyProcess())
}

// subscriptions returns how many subscriptions each of several brokers knows once some nodes have theirs: one
// of each node, and, if there are multicasts, one of each of its own clients, and one of each other broker
// that has any.
func (t *trial) subscriptions(has func(nodes.ID) bool) []int {
	all, brokers := 0, t.transport.brokers.Count()
	own := make([]int, brokers) // clients
	for id := range nodes.ID(t.total()) {
		switch {
		case !has(id):
			continue
		case int(id) < t.Config.N:
			own[t.transport.brokerOf(id)]++
		}
		all++
	}
	want := make([]int, brokers)
	for i := range want {
		want[i] = all
		for j := 0; j < brokers && t.Multicast; j++ {
			if j == i {
				want[i] += own[j]
			} else {
				want[i] += min(1, own[j])
			}
		}
	}
	return want
}

// awaitSubscriptions waits until each broker knows what all nodes have subscribed to, or what none has, and
// nothing else. A node is ready when its own broker knows, and messages that come by others would be lost
// until these do.
func (t *trial) awaitSubscriptions(ctx context.Context, all bool) error {
	if !t.transport.own() {
		return nil
	}
	err := t.transport.brokers.AwaitSubscriptions(ctx, t.subscriptions(func(nodes.ID) bool { return all }))
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}
