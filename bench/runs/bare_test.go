//go:build linux

package runs

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/algorithms/mutex"
	"turnstile/hosts/cluster"
	"turnstile/internal/stats"
	"turnstile/judge/check"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// The bare loop is the baseline for what the testbed itself costs: two algorithms over NATS in as few lines
// as possible, with tiny messages, nothing recorded and nothing checked. It is frozen: it may change only for
// an optimisation of the transport, which is then made in the testbed's host, too.

// bareArgument is the argument by which the test program is a bare node.
const bareArgument = "bare-node-of-the-test"

// A bareConfig is the configuration of a bare node.
type bareConfig struct {
	URL, Token string
	Node, N    uint32
	Algorithm  string // bareRing or bareRicart
}

// The algorithms.
const (
	bareRing   = "token-ring"
	bareRicart = "ricart-agrawala"
)

// The subjects beside those of nodes, which are their numbers alone.
const (
	bareOrders = "orders" // on which all nodes hear the orders bareStart and bareCount
	// bareCounts is where each node publishes its own number once it is up, and then, when asked, how many
	// entries it has made.
	bareCounts = "counts"
)

// The orders.
const (
	bareStart = "start"
	bareCount = "count"
)

// BenchmarkOverhead runs the same algorithm, saturated and without hold, in turn in the testbed with all
// records and checks, and in the bare loop. Only the ratio of their entries per second counts. An iteration
// is a pair: give -benchtime 7x or more.
func BenchmarkOverhead(b *testing.B) {
	const nodes = 32
	for _, algorithm := range []string{bareRing, bareRicart} {
		b.Run(algorithm, func(b *testing.B) {
			var testbed, plain, ratios []float64
			measures := [2]func() float64{
				func() float64 { return testbedRate(b, algorithm, nodes) },
				func() float64 { return bareRate(b, algorithm, nodes) },
			}
			for pair := 0; b.Loop(); pair++ {
				var rates [2]float64
				for i := range measures { // a machine that gets slower favours neither
					which := (pair + i) % 2
					rates[which] = measures[which]()
				}
				testbed, plain = append(testbed, rates[0]), append(plain, rates[1])
				ratios = append(ratios, rates[0]/rates[1])
			}
			b.ReportMetric(stats.Median(testbed).Value, "testbed-entries/s")
			b.ReportMetric(stats.Median(plain).Value, "bare-entries/s")
			b.ReportMetric(stats.Median(ratios).Value, "ratio")
		})
	}
}

// testbedRate returns the entries per second of a run in the testbed.
func testbedRate(b *testing.B, algorithm string, nodes int) float64 {
	algo, err := mutex.Find(algorithm)
	if err != nil {
		b.Fatal(err)
	}
	o := option.Defaults()
	o.Config.N, o.Duration = nodes, bareDuration
	r, err := Make(b.Context(), resolved(b, algo, o), setup(b))
	if err != nil {
		b.Fatal(err)
	}
	rate, known := r.Trials[0].Measures.EntriesPerS.Value()
	if v := r.Trials[0].Verdict; !known || v.Outcome != check.Valid {
		b.Fatalf("the run is %v: %s", v.Outcome, v.Reason)
	}
	return rate
}

// bareDuration is how long a rate is measured.
const bareDuration = 2 * time.Second

// bareRate returns the entries per second of the bare loop, over a broker as the testbed starts it.
func bareRate(b *testing.B, algorithm string, nodes int) float64 {
	broker, err := cluster.LaunchBrokers(b.Context(), []cluster.Host{cluster.NewLauncher()}, setup(b).Broker,
		"the broker", 1, &cluster.Proxies{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer broker.Close()
	conn, err := nats.Connect(broker.URL(0), nats.Token(broker.Token()))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	r := &bareRun{nodes, conn, make(chan *nats.Msg, 4*nodes)}
	if _, err := conn.ChanSubscribe(bareCounts, r.counts); err != nil {
		b.Fatal(err)
	}
	conn.Flush()
	ctx, stop := context.WithCancel(b.Context())
	for id := range nodes {
		cmd := exec.CommandContext(ctx, os.Args[0], bareArgument)
		cmd.Env = append(os.Environ(), cluster.NodeEnv...)
		input, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			defer cmd.Wait()
			err = json.NewEncoder(input).Encode(bareConfig{broker.URL(0), broker.Token(), uint32(id),
				uint32(nodes), algorithm})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	defer stop() // before all nodes are waited for
	rate, err := r.measure()
	if err != nil {
		b.Fatal(err)
	}
	return rate
}

// A bareRun is the orchestrator's side of a run of the bare loop.
type bareRun struct {
	nodes  int
	conn   *nats.Conn
	counts chan *nats.Msg
}

// numbers waits for a number from every node. It returns their sum, and the least of them.
func (r *bareRun) numbers() (total, least uint64, err error) {
	deadline := time.After(30 * time.Second)
	least = math.MaxUint64
	for range r.nodes {
		select {
		case m := <-r.counts:
			n, err := strconv.ParseUint(string(m.Data), 10, 64)
			if err != nil {
				return 0, 0, err
			}
			total, least = total+n, min(least, n)
		case <-deadline:
			return 0, 0, errors.New("the bare nodes do not answer")
		}
	}
	return total, least, nil
}

// order publishes an order to all nodes.
func (r *bareRun) order(order string) error {
	if err := r.conn.Publish(bareOrders, []byte(order)); err != nil {
		return err
	}
	return r.conn.Flush()
}

// count waits, and then asks all nodes how many entries they have made. It returns the total, the least
// number of a node, and the time of the count.
func (r *bareRun) count(after time.Duration) (total, least uint64, at time.Time, err error) {
	time.Sleep(after)
	asked := time.Now()
	if err := r.order(bareCount); err != nil {
		return 0, 0, at, err
	}
	total, least, err = r.numbers()
	return total, least, asked.Add(time.Since(asked) / 2), err
}

// measure starts all nodes at once, and returns their entries per second after a warm-up as in the testbed.
func (r *bareRun) measure() (float64, error) {
	if _, _, err := r.numbers(); err != nil { // all nodes are up
		return 0, err
	}
	if err := r.order(bareStart); err != nil {
		return 0, err
	}
	limit := time.Now().Add(option.WarmupLimit)
	first, least, from, err := r.count(option.Defaults().Warmup)
	for err == nil && least < workload.SteadyEntries && from.Before(limit) {
		first, least, from, err = r.count(200 * time.Millisecond)
	}
	if err != nil {
		return 0, fmt.Errorf("warming up: %w", err)
	}
	last, _, to, err := r.count(bareDuration)
	return float64(last-first) / to.Sub(from).Seconds(), err
}

type bareNode struct {
	bareConfig
	conn     *nats.Conn
	subjects []string
	entries  uint64

	clock, ours uint64 // Ricart-Agrawala: the highest stamp seen, and the stamp of our open request, or 0
	missing     uint32 // replies that have not arrived
	deferred    []uint32
	buffer      []byte
}

// runBareNode runs a bare node, as the standard input configures it, until that is closed.
func runBareNode() error {
	var c bareConfig
	input := json.NewDecoder(os.Stdin)
	if err := input.Decode(&c); err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	conn, err := nats.Connect(c.URL, nats.Token(c.Token), nats.NoEcho(), nats.NoReconnect(),
		nats.Timeout(20*time.Second))
	if err != nil {
		return err
	}
	n := &bareNode{bareConfig: c, conn: conn}
	for id := range c.N {
		n.subjects = append(n.subjects, strconv.Itoa(int(id))) // as short as can be
	}
	messages, orders := make(chan *nats.Msg, 1<<14), make(chan *nats.Msg, 16)
	if _, err := conn.ChanSubscribe(n.subjects[c.Node], messages); err != nil {
		return err
	}
	if _, err := conn.ChanSubscribe(bareOrders, orders); err != nil {
		return err
	}
	if err := conn.Flush(); err != nil {
		return err
	}
	conn.Publish(bareCounts, []byte(strconv.Itoa(int(c.Node))))
	receive := n.ricart
	if c.Algorithm == bareRing {
		receive = n.ring
	}
	for {
		select {
		case m := <-messages:
			receive(m.Data)
			for range min(64, len(messages)) {
				receive((<-messages).Data)
			}
		case m := <-orders:
			n.obey(string(m.Data))
		}
	}
}

func (n *bareNode) obey(order string) {
	switch {
	case order == bareCount:
		n.conn.Publish(bareCounts, strconv.AppendUint(nil, n.entries, 10))
	case n.Algorithm == bareRicart:
		n.request()
	case n.Node == 0:
		n.ring(nil)
	}
}

// ring enters and passes the token on.
func (n *bareNode) ring([]byte) {
	n.entries++
	n.conn.Publish(n.subjects[(n.Node+1)%n.N], []byte{1})
}

// request sends all peers our number and a stamp. Replies are empty.
func (n *bareNode) request() {
	n.clock++
	n.ours, n.missing = n.clock, n.N-1
	n.buffer = binary.AppendUvarint(binary.AppendUvarint(n.buffer[:0], uint64(n.Node)), n.ours)
	for id, subject := range n.subjects {
		if uint32(id) != n.Node {
			n.conn.Publish(subject, n.buffer)
		}
	}
}

func (n *bareNode) ricart(m []byte) {
	if len(m) > 0 {
		from, size := binary.Uvarint(m)
		clock, _ := binary.Uvarint(m[size:])
		n.clock = max(n.clock, clock)
		if n.ours != 0 && (n.ours < clock || n.ours == clock && n.Node < uint32(from)) {
			n.deferred = append(n.deferred, uint32(from))
		} else {
			n.conn.Publish(n.subjects[from], nil)
		}
		return
	}
	if n.missing--; n.missing > 0 {
		return
	}
	n.entries++
	n.ours = 0
	for _, id := range n.deferred {
		n.conn.Publish(n.subjects[id], nil)
	}
	n.deferred = n.deferred[:0]
	n.request()
}
