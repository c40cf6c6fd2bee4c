package mutex

import "turnstile/nodes"

// impatientRing has timeouts so short that nodes take a slow token for lost.
var impatientRing = nodes.Config{N: 3}.With("loss-timeout", "4ms").With("retry", "3ms")

func regeneratingMutants() []mutant {
	c := impatientRing
	change := mutantsOf[tokenRingRegenerating](&tokenRingRegeneratingAlgorithm, c)
	slow := mutantsOf[tokenRingRegenerating](&tokenRingRegeneratingAlgorithm, nodes.Config{N: 3})
	fenced := c
	fenced.Fenced = true
	return []mutant{
		change("who misses the token makes one", "exclusion or panic",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingAlone{r} }),
		change("who is inside is not given the epoch of a census", "exclusion",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingBlind{r} }),
		change("a stale token is taken", "exclusion or panic",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingStale{r} }),
		change("a token that was here before is taken again", "exclusion or panic",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingCopied{r} }).copied(),
		change("an epoch is taken as often as it is given", "exclusion or panic",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingTwice{r} }).copied(),
		mutantsOf[tokenRingRegenerating](&tokenRingRegeneratingAlgorithm, fenced)(
			"grants are not counted", "exclusion",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingUncounted{r} }),
		slow("nobody misses the token", "progress",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingPatient{r} }).lost(),
		mutantsOf[tokenRingRegenerating](&tokenRingRegeneratingAlgorithm, nodes.Config{N: 2})(
			"asks are not repeated", "progress",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingOnce{r} }).lost(),
		slow("the dead are not skipped", "progress",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingDeaf{r} }).crashed(),
		slow("the last node lets the token pass by, all but each third time", "fairness",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingModest{r, 0} }),
	}
}

type (
	regeneratingAlone     struct{ tokenRingRegenerating }
	regeneratingBlind     struct{ tokenRingRegenerating }
	regeneratingStale     struct{ tokenRingRegenerating }
	regeneratingCopied    struct{ tokenRingRegenerating }
	regeneratingTwice     struct{ tokenRingRegenerating }
	regeneratingUncounted struct{ tokenRingRegenerating }
	regeneratingPatient   struct{ tokenRingRegenerating }
	regeneratingOnce      struct{ tokenRingRegenerating }
	regeneratingDeaf      struct{ tokenRingRegenerating }
	regeneratingMinor     struct{ tokenRingRegenerating }
	regeneratingModest    struct {
		tokenRingRegenerating
		rounds uint32
	}
)

func (r *regeneratingModest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	wants := r.wants
	if _, ok := m.(regeneratedToken); ok && int(env.Self()) == env.N()-1 {
		r.rounds++
		r.wants = wants && r.rounds%3 == 0
	}
	r.tokenRingRegenerating.Receive(env, from, m)
	r.wants = wants
}

func (r *regeneratingAlone) Timeout(env *nodes.Env, t nodes.Timer) {
	if r.silent > 0 && t == ringWatch && !r.usable() && r.wants && !r.inside {
		r.census.raise(env, r.census.epoch+1)
		r.make(r.census.epoch)
		r.settle(env)
	}
	r.tokenRingRegenerating.Timeout(env, t)
}

func (r *regeneratingBlind) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(censusAnswer[tokenMark]); ok {
		a.Report = tokenMark{}
		m = a
	}
	r.tokenRingRegenerating.Receive(env, from, m)
}

func (r *regeneratingStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(regeneratedToken); ok && t.Epoch < r.census.epoch {
		t.Epoch, t.Sent = r.census.epoch, max(t.Sent, r.token.Sent+1)
		m = t
	}
	r.tokenRingRegenerating.Receive(env, from, m)
}

func (r *regeneratingCopied) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(regeneratedToken); ok && !r.here && t.Epoch == r.token.Epoch {
		r.token.Sent = t.Sent - 1
	}
	r.tokenRingRegenerating.Receive(env, from, m)
}

func (r *regeneratingTwice) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(ringRenewal); ok && !r.here && g.Epoch == r.token.Epoch {
		r.token.Epoch--
	}
	r.tokenRingRegenerating.Receive(env, from, m)
}

func (r *regeneratingUncounted) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(regeneratedToken); ok {
		t.Grants = 0
		m = t
	}
	r.tokenRingRegenerating.Receive(env, from, m)
}

func (r *regeneratingPatient) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == ringWatch {
		r.silent = -1
	}
	r.tokenRingRegenerating.Timeout(env, t)
}

func (r *regeneratingOnce) Timeout(env *nodes.Env, t nodes.Timer) {
	if t != censusTimer {
		r.tokenRingRegenerating.Timeout(env, t)
	}
}

// Suspect forgets the suspicion as soon as an open census has counted it.
func (r *regeneratingDeaf) Suspect(env *nodes.Env, peer nodes.ID) {
	r.tokenRingRegenerating.Suspect(env, peer)
	r.census.suspected.Remove(peer)
}

func (r *regeneratingMinor) Suspect(env *nodes.Env, peer nodes.ID) {
	r.tokenRingRegenerating.Suspect(env, peer)
	if missing := r.census.missing(env); r.census.open && !r.census.joining && missing.Empty() {
		r.census.open = false
		r.complete(env, true)
	}
}
