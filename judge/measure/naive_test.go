package measure

import (
	"fmt"
	"slices"

	"turnstile/internal/figure"
	"turnstile/judge/section"
	"turnstile/nodes"
)

// naive measures visits straight from the definitions, in time quadratic or worse, and prints them.
func naive(visits []plainVisit, w section.Window, end int64) string {
	var overlap, busy int64
	for at := int64(0); at < end; at++ {
		if holders(visits, at) > 1 {
			overlap++
		}
		if holders(accepted(visits), at) > 0 && w.Has(at) {
			busy++
		}
	}
	var waits, censored, delays, uncontended, unfinished, requests, unserved, most, sum int
	for _, v := range visits {
		if touches(w, v, end) {
			waits++
			if v.entered < 0 {
				censored++
			}
			if lonely(visits, v) {
				uncontended++
			}
		}
		if v.entered < 0 {
			unfinished++
		} else if w.Has(v.entered) && handedOver(visits, v) {
			delays++
		}
		asked := v
		if asked.due = v.asked; touches(w, asked, end) {
			n := overtakers(visits, v)
			requests, most, sum = requests+1, max(most, n), sum+n
			if v.entered < 0 {
				unserved++
			}
		}
	}
	var max, mean figure.Figure
	if requests > 0 {
		bound := figure.Number
		if unserved > 0 {
			bound = figure.AtLeast
		}
		max, mean = bound(float64(most)), bound(float64(sum)/float64(requests))
	}
	var overlapUS, utilisation figure.Figure
	if len(visits) > 0 {
		overlapUS = figure.Number(float64(overlap))
		utilisation = figure.Ratio(float64(busy), float64(w.Length()))
	}
	return fmt.Sprintln(overlapUS, utilisation, max, mean, unfinished,
		waits, censored, delays, uncontended, jain(visits, w))
}

// touches reports whether v waited at any moment of the window, even if the wait has no length.
func touches(w section.Window, v plainVisit, end int64) bool {
	until := v.entered
	if until < 0 {
		until = end
	}
	for at := v.due; at <= until; at++ {
		if w.Has(at) {
			return true
		}
	}
	return false
}

// accepted returns the visits that were not refused.
func accepted(visits []plainVisit) []plainVisit {
	return slices.DeleteFunc(slices.Clone(visits), func(v plainVisit) bool { return v.refused })
}

func holders(visits []plainVisit, at int64) (n int) {
	for _, v := range visits {
		if v.entered >= 0 && v.entered <= at && (v.exited < 0 || at < v.exited) {
			n++
		}
	}
	return n
}

// lonely reports whether nobody held or waited when v was asked.
func lonely(visits []plainVisit, v plainVisit) bool {
	return !slices.ContainsFunc(visits, func(u plainVisit) bool {
		return u.asked < v.asked && (u.exited < 0 || v.asked < u.exited)
	})
}

// handedOver reports whether v entered an unused resource first after an exit, having asked before it.
func handedOver(visits []plainVisit, v plainVisit) bool {
	var exit, enter int64 = -1, -1
	for _, u := range visits {
		if u.exited >= 0 && u.exited < v.entered {
			exit = max(exit, u.exited)
		}
		if u.entered >= 0 && u.entered < v.entered {
			enter = max(enter, u.entered)
		}
	}
	return holders(visits, v.entered-1) == 0 && exit > enter && v.asked < exit
}

func overtakers(visits []plainVisit, v plainVisit) (n int) {
	for _, u := range visits {
		if u.asked > v.asked && u.entered >= 0 && (v.entered < 0 || u.entered < v.entered) {
			n++
		}
	}
	return n
}

func jain(visits []plainVisit, w section.Window) figure.Figure {
	entries := map[nodes.ID]float64{}
	for _, v := range visits {
		entries[v.node] += 0
		if v.entered >= 0 && w.Has(v.entered) {
			entries[v.node]++
		}
	}
	var sum, squares float64
	for _, n := range entries {
		sum += n
		squares += n * n
	}
	return figure.Ratio(sum*sum, float64(len(entries))*squares)
}
