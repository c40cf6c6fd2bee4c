package study

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/judge/check"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A RateSweep searches, for each configuration, for the highest rate of an open load that it serves, in
// requests per second and node. Each trial is a separate search with its own seed. Each probe is a run of the
// set. The rows of the probes so far determine the next probe, so an interrupted search can be continued.
type RateSweep struct {
	Sweep
	WaitBound time.Duration // bound for the 99th percentile of waits

	done, most int // for Progress: how many probes were made, and the most that there can be in all
	searches   [][]*rateSearch
}

// ServedShare is the least share of the requests due in the window that must be issued, and the least number
// of entries in the window as a share of these requests.
const ServedShare = 0.95

// RateStep is the ratio of successive rates that may be probed.
const RateStep = 1.05

// The searches probe powers of RateStep that give at least 20 and at most a million requests in the window.
// A first search starts at 100 requests per second in all, and its strides multiply a rate by 4.8. The other
// searches start at the rate that it found; their strides multiply a rate by 1.22, 1.48, 2.2 and then by 4.8.
const (
	leastRequests = 20
	mostRequests  = 1_000_000
	firstPerS     = 100

	nearStride   = 4
	widestStride = 32
)

// mostAt returns the job of a configuration at its highest rate that may be probed.
func mostAt(j *bench.Job) *bench.Job { return atRate(j, rateOf(rateSearchOf(j).most)) }

// atRate returns the job of a configuration at a rate.
func atRate(of *bench.Job, rate float64) *bench.Job {
	j := *of
	j.Workload.Rate = rate
	return &j
}

// rateOf returns RateStep to a power, rounded to four digits.
func rateOf(power int) float64 {
	rate, _ := strconv.ParseFloat(strconv.FormatFloat(math.Pow(RateStep, float64(power)), 'g', 4, 64), 64)
	return rate
}

// powerOf returns the least power of RateStep that is not below a rate.
func powerOf(rate float64) int { return int(math.Ceil(math.Log(rate) / math.Log(RateStep))) }

// rateSearchOf returns the first search of a configuration, without its probe function.
func rateSearchOf(j *bench.Job) search {
	nodes, inWindow := float64(j.Config.N), float64(j.Config.N)*j.Duration.Seconds()
	return search{least: max(powerOf(workload.LeastRate), powerOf(leastRequests/inWindow)),
		most:  min(powerOf(workload.MostRate), powerOf(mostRequests/inWindow)) - 1,
		start: powerOf(firstPerS / nodes), stride: widestStride, widest: widestStride}
}

// A rateSearch is one trial of a configuration.
type rateSearch struct {
	found
	over   bool               // the search has finished
	most   int                // how many probes the search makes at most
	probes map[int]*rateProbe // the probes made, by power of RateStep
	first  *results.Row       // row of the first probe in runs.csv
	err    error              // why the search has not finished
}

// A rateProbe is the judgement of a stored run at a rate.
type rateProbe struct {
	answer
	limit  string
	cpu    bool
	reason string
}

// A limit is the reason why a configuration does not serve the next higher rate.
const (
	LimitShare     = "share"     // too few requests were issued, or served
	LimitWait      = "wait"      // waits are longer than the bound
	LimitCPU       = "cpu"       // the load is not served, and the run is CPU-bound
	LimitUnknown   = "unknown"   // the run shows nothing
	LimitCap       = "cap"       // no limit was found: no higher rate is probed
	LimitViolation = "violation" // a promise was broken
)

// judgeProbe reports whether a run serves its load. The figures have no wait for a request that was not
// issued; the share of issued requests bounds how many such requests there are.
func (s *RateSweep) judgeProbe(row *results.Row) *rateProbe {
	p := &rateProbe{cpu: row.CPUBound(), reason: row.Reason}
	outcome := check.Inconclusive
	if outcome.UnmarshalText([]byte(row.Verdict)) != nil {
		outcome = check.Inconclusive
	}
	issued, issuedKnown := row.IssuedShare.Value()
	served, servedKnown := row.ServedShare.Value()
	wait, waitKnown := row.WaitUSP99.Value()
	long := wait > float64(s.WaitBound)/1e3
	switch {
	case outcome == check.Violated:
		p.answer, p.limit = violates, LimitViolation
	case outcome == check.Inconclusive:
		p.answer, p.limit = unsure, LimitUnknown
	case outcome != check.Valid && outcome != check.Overloaded: // under-loaded: the processes were late
		p.answer, p.limit = unsure, LimitUnknown
		if p.cpu {
			p.answer, p.limit = fails, LimitCPU
		}
	case issuedKnown && issued < ServedShare || servedKnown && served < ServedShare:
		p.answer, p.limit = fails, LimitShare
	case long:
		p.answer, p.limit = fails, LimitWait
	case !issuedKnown || !servedKnown || !waitKnown:
		p.answer, p.limit = unsure, LimitUnknown
	default:
		p.answer = passes
	}
	return p
}

// Prepare reads the set, and returns how many probes it has and the most that are left.
func (s *RateSweep) Prepare() (made, left int, err error) {
	if err := s.readSet(); err != nil {
		return 0, 0, err
	}
	s.searches = make([][]*rateSearch, len(s.Cells))
	for cell := range s.Cells {
		s.searches[cell] = make([]*rateSearch, s.Trials)
		for trial := 1; trial <= s.Trials; trial++ {
			r := s.search(cell, trial, func(string, *bench.Job) error { return errMissing })
			if r.err != nil && r.err != errMissing {
				return 0, 0, r.err
			}
			if made += len(r.probes); !r.over && !s.ended(cell, trial) {
				left += max(1, r.most-len(r.probes))
			}
		}
	}
	s.done, s.most = made, made+left
	return made, left, nil
}

// errMissing is the error for a missing probe that is not to be made yet.
var errMissing = errors.New("not made yet")

// search runs the search of one trial of a configuration, and stores it in s. It stops at the first probe
// that is not stored and cannot be made.
func (s *RateSweep) search(cell, trial int, probe func(name string, j *bench.Job) error) *rateSearch {
	r := &rateSearch{probes: map[int]*rateProbe{}}
	look := rateSearchOf(s.Cells[cell])
	if first := s.searches[cell][0]; trial > 1 && first.over && first.at >= look.least {
		look.start, look.stride = first.at, nearStride
	}
	r.most = look.mostProbes()
	look.probe = func(at int) answer {
		if s.ended(cell, trial) {
			return unanswered
		}
		j := s.job(atRate(s.Cells[cell], rateOf(at)), trial)
		name, err := runName(j, trial)
		stored := func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			row, is := s.rows[name]
			switch {
			case is:
				r.probes[at], r.first = s.judgeProbe(&row), cmp.Or(r.first, &row)
			case s.changed[name] != nil:
				r.probes[at] = &rateProbe{answer: unsure, limit: LimitUnknown, reason: s.changed[name].Error()}
			}
			return r.probes[at] != nil
		}
		if err == nil && !stored() {
			if err = probe(name, j); err == nil {
				stored()
			}
		}
		if r.err = err; r.probes[at] == nil {
			return unanswered
		}
		return r.probes[at].answer
	}
	r.found = look.run()
	r.over = r.next != unanswered
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches[cell][trial-1] = r
	return r
}

// ended reports whether an earlier trial has ended the search of a configuration, by a violation.
func (s *RateSweep) ended(cell, trial int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.searches[cell][:trial-1] {
		if r != nil && r.next == violates {
			return true
		}
	}
	return false
}

// Make makes the missing probes, and returns their results. It makes the first trial of each configuration
// first, since the other trials start at the rate that it finds. If ctx is done, Make returns the results so
// far, and the error of ctx. Any other error names a file that could not be written.
func (s *RateSweep) Make(ctx context.Context) (made []*Result, err error) {
	if s.most > s.done {
		if err := s.describe(); err != nil {
			return nil, err
		}
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	round := func(units [][2]int) {
		pool(within, s.workers(), len(units), func(number int) {
			cell, trial := units[number][0], units[number][1]
			s.search(cell, trial, func(name string, j *bench.Job) error {
				r := s.make(within, s.caseOf(name, trial, j))
				mu.Lock()
				defer mu.Unlock()
				if s.stops(r) {
					stop()
				}
				if within.Err() != nil {
					return within.Err()
				}
				made = append(made, r)
				if s.done++; s.Progress != nil {
					s.Progress(s.done, max(s.done, s.most), r)
				}
				return r.Err
			})
		})
	}
	var first, more [][2]int
	for trial := 1; trial <= s.Trials; trial++ {
		for _, cell := range s.order(trial) {
			if trial == 1 {
				first = append(first, [2]int{cell, trial})
			} else {
				more = append(more, [2]int{cell, trial})
			}
		}
	}
	round(first)
	round(more)
	return made, cmp.Or(s.unwritten, s.writeAll(), s.writeRates(), ctx.Err())
}

// DiskSpace returns how many bytes of disk space the largest run needs while it goes on.
func (s *RateSweep) DiskSpace() (most uint64) {
	for _, j := range s.Cells {
		most = max(most, mostAt(j).DiskSpace().Bytes)
	}
	return most
}

// rate returns the rate that a trial has found.
func (r *rateSearch) rate() figure.Figure {
	rate := 0.0
	if r.probes[r.at] != nil && r.probes[r.at].answer == passes {
		rate = rateOf(r.at)
	}
	switch {
	case !r.over || r.stopped:
		return figure.Figure{}
	case r.next == passes || r.next == unsure:
		return figure.AtLeast(rate)
	}
	return figure.Number(rate)
}

// limit returns why a trial found no higher rate, and the reason in the verdict of the run at the next rate.
func (r *rateSearch) limit() (limit, reason string) {
	p, next := r.probes[r.at], r.probes[r.at+1]
	switch {
	case r.stopped:
		return p.limit, p.reason
	case next == nil:
		return LimitCap, ""
	case next.answer == fails && (next.cpu || p != nil && p.cpu):
		return LimitCPU, next.reason
	}
	return next.limit, next.reason
}

// Kinds of intervals of a rate.
const (
	IntervalOfMedian = "95% of the median"
	IntervalOfAll    = "least and most"
)

// Rates returns a row for each configuration that has finished at least one search.
func (s *RateSweep) Rates() (rows []results.RateRow) {
	for cell, searches := range s.searches {
		if row := s.rateRow(searches); row != nil {
			clients := float64(s.Cells[cell].Config.N)
			row.TotalPerS, row.TotalLowPerS, row.TotalHighPerS = times(row.Number(option.RateColumn), clients),
				times(row.LowPerS, clients), times(row.HighPerS, clients)
			row.WaitBoundS = figure.Number(s.WaitBound.Seconds())
			rows = append(rows, *row)
		}
	}
	return rows
}

// times returns a figure multiplied by a positive number.
func times(f figure.Figure, by float64) figure.Figure {
	switch x, known := f.Value(); {
	case !known:
		return f
	case f.IsBound():
		return figure.AtLeast(x * by)
	default:
		return figure.Number(x * by)
	}
}

// rateRow combines the finished searches of a configuration, or returns nil if no search is finished.
func (s *RateSweep) rateRow(searches []*rateSearch) *results.RateRow {
	row := &results.RateRow{}
	var rates []figure.Figure
	var trials []int
	limits, reasons := map[string]int{}, map[string]string{}
	for i, r := range searches {
		if r == nil || !r.over {
			continue
		}
		if row.Version = r.version(); r.first != nil {
			row.Asked = r.first.Asked
		}
		row.Trials++
		row.Probes += len(r.probes)
		limit, reason := r.limit()
		limits[limit]++
		reasons[limit] = cmp.Or(reasons[limit], reason)
		if r.stopped { // after a violation, the other searches do not count
			row.Asked = row.With(option.RateColumn, figure.Figure{})
			row.LimitedBy, row.Reason = limit, reason
			return row
		}
		rates, trials = append(rates, r.rate()), append(trials, i+1)
	}
	if len(rates) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(limits))
	row.LimitedBy = slices.MaxFunc(names, func(a, b string) int { return limits[a] - limits[b] })
	if limits[LimitCPU] > 0 {
		row.LimitedBy = LimitCPU // the machine, not the algorithm alone, limits the rate
	}
	row.Reason = reasons[row.LimitedBy]
	rate := positive(stats.MedianOf(rates))
	row.Asked = row.With(option.RateColumn, rate)
	row.LowPerS, row.HighPerS, row.Interval = medianInterval(rates)
	row.ServedNext = servedNext(rate, rates, trials)
	return row
}

// servedNext names the trials that serve the next higher rate, or an even higher one.
func servedNext(rate figure.Figure, rates []figure.Figure, trials []int) string {
	const rounding = 0.999 // rates are rounded to four digits
	var served []string
	median, known := rate.Value()
	for i, f := range rates {
		if x, _ := f.Value(); known && x >= median*RateStep*rounding {
			served = append(served, strconv.Itoa(trials[i]))
		}
	}
	return strings.Join(served, " ")
}

// version returns the version that made the first probe.
func (r *rateSearch) version() string {
	if r.first == nil {
		return ""
	}
	return r.first.Version
}

// positive returns a figure unless it is 0, which means that no rate was served.
func positive(f figure.Figure) figure.Figure {
	if x, _ := f.Value(); x == 0 {
		return figure.Figure{}
	}
	return f
}

// medianInterval returns the confidence interval of the median or, if there are too few figures, the least
// and the greatest. The upper end is a lower bound if a figure at or below it is a lower bound.
func medianInterval(rates []figure.Figure) (low, high figure.Figure, is string) {
	var values []float64
	for _, f := range rates {
		x, _ := f.Value()
		values = append(values, x)
	}
	from, to, is := slices.Min(values), slices.Max(values), IntervalOfAll
	if e := stats.Median(values); e.Bounded() {
		from, to, is = e.Low, e.High, IntervalOfMedian
	}
	high = figure.Number(to)
	for i, f := range rates {
		if f.IsBound() && values[i] <= to {
			high = figure.AtLeast(to)
		}
	}
	return figure.Number(from), high, is
}

// writeRates writes the table of rates.
func (s *RateSweep) writeRates() error {
	_, err := results.WriteSetTable(s.Setup.Results, s.Setup.Set, results.RatesFile, s.Rates())
	return err
}

// An answer is the result of a probe.
type answer int

const (
	unanswered answer = iota // the probe could not be made
	passes
	fails
	unsure   // the probe shows nothing, and does not pass
	violates // a promise was broken: the search ends
)

// A search looks for a number, from search.least to search.most, at which the probe passes while it fails at
// the next number. It starts at search.start, and goes up while probes pass or down while they fail. Its
// strides double, up to search.widest. Then it bisects. The answers alone determine the next number.
type search struct {
	least, most, start int
	stride, widest     int
	probe              func(at int) answer // may be called twice for a number, with the same answer
}

// A found is the result of a search. If probes pass up to a number and fail above, found.at is that number.
type found struct {
	at      int    // greatest number at which a probe passed; search.least-1: no probe passed
	next    answer // answer of the probe at found.at+1; passes: found.at is search.most
	stopped bool   // a probe ended the search: found.at is its number, and found.next its answer
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

// mostProbes returns the most probes that the search can make.
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
