package offset

// Pieces returns the offset from one time to another, by the reference's clock, as straight lines. It is
// empty if nothing is known.
func (e *Estimator) Pieces(from, to int64) (all Pieces) {
	var end int64 // of what is known so far
	for first, last := 0, 0; first < len(e.points); first = last + 1 {
		for last = first; last+1 < len(e.points) && !e.points[last+1].jumped; {
			last++
		}
		run, until := e.run(first, last, from, to)
		if len(run) == 0 {
			continue
		}
		if len(all) > 0 {
			all = append(all, bridge(&all[len(all)-1], end, &run[0]))
		}
		all = append(all, run...)
		end = until
	}
	if n := len(all); n > 0 && e.refused > 0 {
		last := &all[n-1]
		all = append(all, Piece{From: end, Offset: last.offset(end), Bound: forever, Unknown: true})
	}
	return all
}

// forever is the bound of what may be any time.
const forever = 1 << 60

// run returns the offset between two jumps, and until when it is known; nothing if that is no time.
func (e *Estimator) run(first, last int, from, to int64) (all Pieces, until int64) {
	a, b := &e.points[first], &e.points[last]
	// The reading of the host's clock at the beginning may stand for an earlier time, within the bound.
	begin := from - a.bound() - drifted(max(0, a.at-from))
	if first > 0 {
		begin = a.returned + a.bound() // what the host's clock shows then, it has shown after the jump
	} else if begin < a.at {
		all = append(all, Piece{From: begin, Offset: a.offset(), Bound: a.bound() + drifted(a.at-begin)})
	}
	until = max(to, b.at)
	if last < len(e.points)-1 || e.refused > 0 {
		until = b.sent - b.bound()
	}
	if begin > until {
		return nil, 0
	}
	for i := first; i < last; i++ {
		all = append(all, e.piece(i))
	}
	if b.at <= until {
		all = append(all, Piece{From: b.at, Offset: b.offset(), Bound: b.bound() + drifted(until-b.at)})
	}
	for len(all) > 1 && all[1].From <= begin {
		all = all[1:]
	}
	if p := &all[0]; p.From < begin {
		p.Offset, p.From = p.offset(begin), begin
	}
	for len(all) > 1 && all[len(all)-1].From > until {
		all = all[:len(all)-1]
	}
	return all, until
}

// bridge returns the offset across a jump, from a time in one piece to the beginning of another.
func bridge(from *Piece, end int64, to *Piece) Piece {
	p := Piece{From: end, Offset: from.offset(end), Unknown: true, Bound: to.From - end + from.Bound + to.Bound}
	p.Rate = max(float64(to.Offset-p.Offset)/float64(to.From-end), -1+1e-9) // time passes all the same
	return p
}

// piece returns the offset from an exchange to the next one, between which no clock jumped.
func (e *Estimator) piece(i int) Piece {
	a, b := &e.points[i], &e.points[i+1]
	length := float64(b.at - a.at)
	p := Piece{From: a.at, Offset: a.offset(), Rate: float64(b.offset()-a.offset()) / length,
		Bound: max(a.bound(), b.bound())}
	// Two lines bound the possible offsets on either side, so the largest error is where they meet.
	for _, meet := range []float64{
		(length + float64(b.high-a.high)/Drift) / 2, (length + float64(a.low-b.low)/Drift) / 2,
	} {
		at := a.at + int64(min(length, max(0, meet)))
		lowA, highA := a.reaches(at)
		lowB, highB := b.reaches(at)
		low, high, offset := max(lowA, lowB), min(highA, highB), p.offset(at)
		p.Bound = max(p.Bound, high-offset+2, offset-low+2)
	}
	return p
}
