package workload

// SteadyEntries is how often each client that requests has entered when a run is warm: the first requests of
// all at once are no steady state.
const SteadyEntries = 2

// fewEntries are no more than a run makes before anybody who watches it sees that it is warm.
const fewEntries = 1000

// Brief reports whether a run that ends by entries has too few of them for some to be a warm-up. It is then
// measured as a whole, to its last exit.
func Brief(entries uint64, clients int) bool {
	return entries < max(fewEntries, 4*SteadyEntries*uint64(clients))
}
