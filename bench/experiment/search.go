package experiment

// An answer is what a probe of a search says.
type answer int

const (
	unanswered answer = iota // the probe could not be made
	passes
	fails
	unsure   // it shows nothing, which is no pass
	violates // a promise was broken, which ends the search
)

// A search looks for a number from least to most at which a probe passes, and at the next does not. It goes
// from start by strides, each twice as long as the one before and at most widest long, up while probes pass
// or down while they do not, and then halves what is left. What it asks next follows from the answers alone.
type search struct {
	least, most, start int
	stride, widest     int
	probe              func(at int) answer // may be asked for a number once more, and answers the same
}

// A found is what a search has found. If its probes pass up to one number and fail beyond, it is that number.
type found struct {
	at      int    // the probe passes there; least-1: it does nowhere
	next    answer // of the probe at the next number; passes: there is none, since at is most
	stopped bool   // a probe could not be made, or broke a promise: next says which, and at says where
}

// run makes the search.
func (s *search) run() found {
	low, high, said := s.least-1, s.most+1, passes
	ask := func(at int) (stop bool) {
		switch a := s.probe(at); a {
		case passes:
			low = at
		case unanswered, violates:
			low, said = at, a
			return true
		default:
			high, said = at, a
		}
		return false
	}
	at, stride := min(max(s.start, s.least), s.most), min(s.stride, s.widest)
	for {
		if ask(at) {
			return found{low, said, true}
		}
		if low >= s.least && high <= s.most || low == s.most || high == s.least {
			break
		}
		if low >= s.least {
			at = min(at+stride, s.most)
		} else {
			at = max(at-stride, s.least)
		}
		stride = min(2*stride, s.widest)
	}
	for low >= s.least && high-low > 1 {
		if ask(low + (high-low)/2) {
			return found{low, said, true}
		}
	}
	return found{low, said, false}
}

// mostProbes returns how many probes the search makes at most, whatever they answer.
func (s *search) mostProbes() int {
	count := 1
	for stride, left := min(s.stride, s.widest), s.most-s.least; left > 0; stride = min(2*stride, s.widest) {
		left -= stride
		count++
	}
	for left := s.widest; left > 1; left = (left + 1) / 2 {
		count++
	}
	return count
}
