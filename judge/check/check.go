package check

// A check judges one promise by the evidence of a run.
type check struct {
	name   string
	about  About
	leaves open // what of a run with faults is open if the check does not come out valid
	// split says that a violation breaks safety only if the verdict says that the run was Divided.
	split bool
	// live says that where leaders have terms it rests on what progress does, too, though it is about safety.
	live bool
	// timed says that it compares times of nodes with those of others, and not only the order of what they did.
	timed bool
	// of reports whether a run is one that the check is about; nil: every run is.
	of    func(*evidence) bool
	judge func(*evidence) Finding
}

// An About says what a check is about.
type About int

// Subjects of checks.
const (
	aboutSafety     About = iota + 1
	aboutProgress         // everybody is served, and all agree on a leader
	AboutFairness         // in what order
	AboutCost             // how many messages it takes
	AboutIdentities       // equations that counts of messages obey
	aboutClaims           // what else the row of the algorithm says
	aboutBooks            // whether counters, events, streams of messages and witnesses contradict each other
	AboutFaults           // whether what was to go wrong did
	aboutEnough           // whether there was something to judge
	aboutLoad             // whether as much was asked for as the run was to ask
)

// An open is what remains unknown of a run with faults because of a finding that is not valid.
type open int

// Questions that a finding leaves open.
const (
	recovery       open = iota // whether the algorithm recovered; that it stalled is shown all the same
	recoveryInside             // the same, unless the finding is outside the model of the algorithm
	everything                 // that it stalled as well
	nothing
)
