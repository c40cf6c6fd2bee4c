package explore

import "turnstile/nodes/replay"

// In an exploration nobody is cut off. That a node reaches no majority is that its failure detector suspects
// half of the clients, and that in its present life it has heard from too few to make a majority with it. If
// such a node lets its client in, and not because of a message, it has taken a minority for enough. A row
// that may keep what was there promises that but for requests, which find a token there.

// secludes reports whether a row promises something of minorities, and an exploration looks for it.
func (o *Options) secludes() bool {
	return o.Spec.Exclusion().Minority != nil && o.looksFor(replay.CheckMinority)
}

// secluded reports whether a stimulus by which a client enters may not let it in, in the state of its node
// that comes of it.
func (ps *parts) secluded(next *part, s stimulus) bool {
	keeps := ps.o.Spec.Exclusion().Minority.Keeps && s >= onRequest && s < onRelease
	return s < onReceive && !keeps && ps.rules.InMinority(next.suspects, next.heard)
}
