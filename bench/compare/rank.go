package compare

import (
	"cmp"
	"slices"

	"turnstile/internal/figure"
	"turnstile/results"
)

// Median returns the median of a metric over the group's valid trials, its interval, and how many trials have
// measured it. The ends of the interval are unknown if the trials are too few.
func (g *Group) Median(metric results.Column) (median, low, high figure.Figure, trials int) {
	s := g.sample(metric)
	median, low, high = s.median()
	return median, low, high, len(s.x)
}

// Most returns the greatest value of a metric in the group's valid trials; unknown: no trial has measured it.
func (g *Group) Most(metric results.Column) (most figure.Figure) {
	for _, f := range g.sample(metric).all {
		most = figure.Max(most, f)
	}
	return most
}

// A Place is the place of a group in a ranking by one metric.
type Place struct {
	*Group
	Rank   int // from 1, the best; ties have the same rank; 0: not ranked
	Trials int // trials that measured the metric

	Median, Low, High figure.Figure // Low and High are unknown if the trials are too few

	P      figure.Figure // p-value of the difference from the group before (Mann-Whitney, Holm-corrected)
	Reason string        // why the group is not ranked, or tied with the group before
}

// Rank ranks groups by a metric with a preferred direction. Each group is compared with the one before it,
// and has the same rank unless they differ. Groups that cannot be ranked come last.
func Rank(metric results.Column, groups []*Group) []Place {
	places := make([]Place, len(groups))
	for i, g := range groups {
		s := g.sample(metric)
		p := &places[i]
		p.Group, p.Trials, p.Reason = g, len(s.x), s.unranked(metric)
		p.Median, p.Low, p.High = s.median()
	}
	slices.SortStableFunc(places, func(a, b Place) int {
		x, _ := a.Median.Value()
		y, _ := b.Median.Value()
		better := float64(betterOf(metric))
		return cmp.Or(last(a)-last(b), cmp.Compare(y*better, x*better))
	})
	var ranked []*Place
	for i := range places {
		if places[i].Reason == "" {
			ranked = append(ranked, &places[i])
		}
	}
	var pairs []pair
	for i := 1; i < len(ranked); i++ {
		pairs = append(pairs, pair{baseline: ranked[i-1].Group, other: ranked[i].Group})
	}
	lines := linesOf(metric, pairs)
	for i, p := range ranked {
		switch p.Rank = i + 1; {
		case i == 0:
		case ranked[i-1].same && p.same && lines[i-1].Difference != figure.Number(0): // an exact difference
		case lines[i-1].Verdict == unshown:
			p.Rank, p.P, p.Reason = ranked[i-1].Rank, lines[i-1].PHolm, lines[i-1].Reason
		default:
			p.P = lines[i-1].PHolm
		}
	}
	return places
}

// last returns 0 for ranked groups, and more for groups that come after the ranked ones.
func last(p Place) int {
	switch {
	case !p.Median.Known():
		return 2
	case p.Reason != "":
		return 1
	}
	return 0
}
