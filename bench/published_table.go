package bench

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// Who published what.
const (
	theorem     = "the paper of the algorithm"
	textbook    = "Kshemkalyani and Singhal, Distributed Computing, ch. 9"
	reversal    = "Naimi, Trehel and Arnold, JPDC 34(1), 1996: H(N-1)"
	treeMean    = "2 x mean distance in the tree"
	arithmetic  = "one request in N is the coordinator's own"
	ownFit      = "fit to simulations: 4 - 6/(N+1)"
	treeHeavy   = "4 - 4/N on any tree"
	serverCurve = "W/(W+2T)"
	peerCurve   = "W/(W+T)"
	loneClient  = "1/(W+3T), its release waited for"
	eagerClient = "1/(W+2T), its release not waited for"
)

// Claims returns what was published of the algorithms in the table, as far as a run can tell.
func Claims() []Claim {
	var all []Claim
	for _, n := range []int{4, 5, 9, 16, 32} {
		all = append(all, messageClaims(n)...)
	}
	all = append(all, treeClaims()...)
	all = append(all, delayClaims()...)
	return append(all, curveClaims()...)
}

// short is a hold that is nothing beside a hop.
const short = 10 * time.Microsecond

func exactly(x float64) nodes.Range { return nodes.Exactly(x) }

func saturated(figure Quantity, algorithm, source string, n int, published nodes.Range) Claim {
	return Claim{Figure: figure, Algorithm: algorithm, Source: source, N: n, Published: published,
		Load: workload.Saturated, Hold: short, Entries: uint64(max(1000, 20*n))}
}

// heavy is a saturated load under which a holder of the token stays until it has heard from everybody, as it
// would not if the hold were short: then it enters again, for nothing, as often as it can until then.
func heavy(algorithm, source string, n int, published nodes.Range, how Strength) Claim {
	c := saturated(MessagesPerEntry, algorithm, source, n, published)
	c.Hold, c.Entries, c.How = 2*hop, 5000, how
	return c
}

func sequential(figure Quantity, algorithm, source string, n int, published nodes.Range, how Strength) Claim {
	c := saturated(figure, algorithm, source, n, published)
	c.Load, c.How = workload.Sequential, how
	if how == Mean {
		c.Entries = 20_000
	}
	return c
}

// messageClaims are about messages per entry, at N nodes.
func messageClaims(n int) []Claim {
	f := float64(n)
	multicast := saturated(PublishesPerEntry, "ricart-agrawala", theorem+": one request, N-1 replies", n,
		exactly(f))
	multicast.Multicast = true
	delivered := saturated(MessagesPerEntry, "ricart-agrawala", theorem+": multicast or not", n,
		exactly(2*(f-1)))
	delivered.Multicast = true
	fitted := heavy("naimi-trehel", ownFit, n, exactly(4-6/(f+1)), Fitted)
	one := saturated(MessagesPerEntry, "token-ring", textbook, n, exactly(f))
	one.Load = workload.One
	kept := saturated(MessagesPerEntry, "suzuki-kasami", textbook+": the token is kept", n, exactly(0))
	kept.Load = workload.One
	return []Claim{
		saturated(MessagesPerEntry, "central", textbook, n, exactly(3)),
		sequential(MessagesPerEntry, "central-inside", arithmetic, n, exactly(3*(f-1)/f), Mean),
		saturated(MessagesPerEntry, "token-ring", textbook, n, exactly(1)),
		one,
		saturated(MessagesPerEntry, "lamport", theorem, n, exactly(3*(f-1))),
		saturated(MessagesPerEntry, "ricart-agrawala", theorem, n, exactly(2*(f-1))),
		delivered, multicast,
		heavy("suzuki-kasami", textbook, n, exactly(f), Steady),
		sequential(MessagesPerEntry, "suzuki-kasami", textbook+": N, or 0 in one of N", n, exactly(f-1), Mean),
		kept,
		heavy("raymond", treeHeavy, n, exactly(4-4/f), Steady),
		sequential(MessagesPerEntry, "naimi-trehel", reversal, n, exactly(harmonic(n-1)), Mean),
		fitted,
		sequential(MessagesPerEntry, "maekawa", textbook+": 3(K-1)", n, quorumCost(n), Exact),
	}
}

// quorumCost is 3(K-1) for the smallest cyclic quorums known.
func quorumCost(n int) nodes.Range {
	k := map[int]float64{4: 3, 5: 3, 9: 4, 16: 5, 32: 7}[n]
	return exactly(3 * (k - 1))
}

func harmonic(n int) (sum float64) {
	for i := 1; i <= n; i++ {
		sum += 1 / float64(i)
	}
	return sum
}

// treeClaims are about Raymond's algorithm, one request at a time: means of twice the distance, of a
// requester drawn at random, the holder included.
func treeClaims() []Claim {
	means := []struct {
		n                  int
		line, star, binary float64
	}{
		{4, 2.5000, 2.2500, 2.5000}, {5, 3.2000, 2.5600, 2.8800}, {7, 4.5714, 2.9388, 3.9184},
		{9, 5.9259, 3.1605, 4.7407}, {15, 9.9556, 3.4844, 6.5422}, {16, 10.6250, 3.5156, 6.8750},
		{31, 20.6452, 3.7461, 9.5900}, {32, 21.3125, 3.7539, 9.7852},
	}
	var all []Claim
	for _, m := range means {
		for _, of := range []struct {
			tree string
			mean float64
		}{{"line", m.line}, {"star", m.star}, {"binary", m.binary}} {
			c := sequential(MessagesPerEntry, "raymond", treeMean, m.n, exactly(of.mean), Mean)
			c.Options = map[string]string{"tree": of.tree}
			all = append(all, c)
		}
	}
	return all
}

// delayClaims are about synchronization and client delays, in hops.
func delayClaims() []Claim {
	const n = 9
	all := []Claim{
		saturated(SynchronizationDelayHops, "central", textbook, n, exactly(2)),
		saturated(SynchronizationDelayHops, "token-ring", textbook, n, exactly(1)),
		saturated(SynchronizationDelayHops, "lamport", textbook, n, exactly(1)),
		saturated(SynchronizationDelayHops, "ricart-agrawala", textbook, n, exactly(1)),
		saturated(SynchronizationDelayHops, "suzuki-kasami", textbook, n, exactly(1)),
		saturated(SynchronizationDelayHops, "naimi-trehel", textbook, n, exactly(1)),
		saturated(SynchronizationDelayHops, "raymond", "2 - 2/N on any tree", n, exactly(2-2.0/n)),
		saturated(SynchronizationDelayHops, "maekawa", textbook, n, nodes.Between(1, 2)),
		sequential(ClientDelayHops, "central", textbook, n, exactly(2), Exact),
		sequential(ClientDelayHops, "lamport", textbook, n, exactly(2), Exact),
		sequential(ClientDelayHops, "ricart-agrawala", textbook, n, exactly(2), Exact),
		sequential(ClientDelayHops, "maekawa", textbook, n, exactly(2), Exact),
		sequential(ClientDelayHops, "token-ring", textbook+": anywhere from 0 to N", n, nodes.Between(0, n), Exact),
	}
	two := saturated(SynchronizationDelayHops, "token-ring", textbook+": at most N-1", n, nodes.Between(1, n-1))
	two.Load, two.Think = workload.Closed, 20*time.Millisecond
	return append(all, two)
}

// curveClaims are about throughput and utilisation: one entry takes its hold W and the delay.
func curveClaims() []Claim {
	var all []Claim
	for _, ratio := range []float64{0.1, 0.5, 1, 2, 10, 100} {
		for _, of := range []struct {
			algorithm, source string
			hops              float64
		}{{"central", serverCurve, 2}, {"ricart-agrawala", peerCurve, 1}} {
			c := saturated(Utilisation, of.algorithm, of.source, 8, exactly(ratio/(ratio+of.hops)))
			c.Hold = time.Duration(ratio * float64(hop))
			all = append(all, c)
		}
	}
	lone := saturated(Rate, "central", loneClient, 1, exactly(1/(0.002+3*hop.Seconds())))
	lone.Load, lone.Hold, lone.Think = workload.Closed, 2*hop, hop // a hop until the release is handled
	eager := saturated(Rate, "central", eagerClient, 1, exactly(1/(0.002+2*hop.Seconds())))
	eager.Hold = 2 * hop
	return append(all, lone, eager)
}
