package measure

import (
	"slices"

	"turnstile/internal/figure"
	"turnstile/judge/section"
)

// OfGroup are the figures of a group of requests.
type OfGroup struct {
	Requests      number `csv:"requests"`          // requests that overlap the window
	Contended     number `csv:"contended"`         // contended requests of the whole run: see Figures
	Entries       number `csv:"entries_in_window"` // entries in the window
	Unserved      number `csv:"unserved"`          // requests of the whole run that were never served
	Unissued      number `csv:"unissued"`          // arrivals of the whole run that never became requests
	WaitUSP50     number `csv:"wait_us_p50"`       // from when a request is due until it enters
	WaitUSP90     number `csv:"wait_us_p90"`
	WaitUSP99     number `csv:"wait_us_p99"`
	WaitUSMax     number `csv:"wait_us_max"`
	OvertakenMean number `csv:"overtaken_mean"`
	OvertakenMax  number `csv:"overtaken_max"`
}

// OfSize are the figures of the requests for one number of units: the columns of sizes.csv. They show whether
// large requests wait for longer than small ones.
type OfSize struct {
	Units int `csv:"units"` // how many units each request takes
	OfGroup
}

// OfResource are the figures of the requests for one resource: the columns of resources.csv.
type OfResource struct {
	Resource    int    `csv:"resource"`    // number of the resource
	Utilisation number `csv:"utilisation"` // share of the window with a client inside
	OfGroup
}

// A group gathers the requests for one number of units, or for one resource.
type group struct {
	number    uint32
	wait      Latency
	entries   uint64
	unserved  uint64
	unissued  uint64
	requests  uint64
	contended uint64
	overtaken uint64 // how often its requests were overtaken, in all
	most      uint64 // how often one of its requests was overtaken at most
	gaveUp    bool   // some requests were never served: they might have been overtaken more often
	busy      int64  // for a resource: nanoseconds of the window with a client inside
}

// groups are sorted by number.
type groups []*group

// of returns the group with a number. It adds the group if it is missing.
func (g *groups) of(number uint32) *group {
	at, is := slices.BinarySearchFunc(*g, number, func(one *group, number uint32) int {
		return int(one.number) - int(number)
	})
	if !is {
		*g = slices.Insert(*g, at, &group{number: number})
	}
	return (*g)[at]
}

// waited takes a request whose wait is over. The request counts if it overlaps the window.
func (g *group) waited(s *section.Section, at int64, window section.Window) {
	if window.Touches(s.Due, at) {
		g.wait.add(at-s.Due, s.Served())
	}
	if window.Touches(s.Asked, at) {
		g.requests++
		g.overtaken += s.Overtaken
		g.most = max(g.most, s.Overtaken)
		g.gaveUp = g.gaveUp || !s.Served()
	}
}

// ended takes a section that has ended.
func (g *group) ended(s *section.Section, window section.Window) {
	if s.Contended() {
		g.contended++
	}
	switch {
	case s.State == section.Unissued:
		g.unissued++
		if window.Touches(s.Due, s.Ended) {
			g.wait.add(s.Ended-s.Due, false)
		}
	case s.State == section.GaveUp:
	case !s.Served():
		g.unserved++
	case window.Has(s.Entered):
		g.entries++
	}
}

// figures returns the figures of the group.
func (g *group) figures() OfGroup {
	number := figure.Number
	if g.gaveUp {
		number = figure.AtLeast
	}
	of := OfGroup{
		Requests: figure.Count(g.requests), Contended: figure.Count(g.contended), Entries: figure.Count(g.entries),
		Unserved: figure.Count(g.unserved), Unissued: figure.Count(g.unissued),
		WaitUSP50: g.wait.MicrosAt(0.5), WaitUSP90: g.wait.MicrosAt(0.9), WaitUSP99: g.wait.MicrosAt(0.99),
		WaitUSMax: g.wait.MicrosAt(1),
	}
	if g.requests > 0 {
		of.OvertakenMean = number(float64(g.overtaken) / float64(g.requests))
		of.OvertakenMax = number(float64(g.most))
	}
	return of
}

// divided groups the requests of a run by how many units they take, and by the resource that they name.
type divided struct {
	sizes     groups  // groups by the number of units, for resources with several
	byName    bool    // ByResource was called
	resources groups  // groups by instance, if byName
	held      float64 // how long each unit was taken in the window, in nanoseconds, summed over all units
}

// each calls do for the groups that a request belongs to.
func (d *divided) each(s *section.Section, do func(*group)) {
	if s.Resource.Capacity > 1 && s.Units > 0 {
		do(d.sizes.of(s.Units))
	}
	if d.byName {
		do(d.resources.of(uint32(s.Resource.Instance)))
	}
}

func (d *divided) waited(s *section.Section, at int64, window section.Window) {
	d.each(s, func(g *group) { g.waited(s, at, window) })
}

func (d *divided) ended(s *section.Section, window section.Window) {
	d.each(s, func(g *group) { g.ended(s, window) })
	if s.Resource.Capacity > 1 && s.Served() {
		d.held += float64(s.Units) * float64(window.Overlap(s.Entered, s.Ended))
	}
}

// OfSizes returns the figures for each number of units that requests took, in rising order; nil if no
// resource has several units.
func (m *Measures) OfSizes() (all []OfSize) {
	for _, g := range m.divided.sizes {
		all = append(all, OfSize{int(g.number), g.figures()})
	}
	return all
}

// ByResource makes the fold also measure each resource by itself, requested or not. Call it before the first
// event.
func (f *Fold) ByResource() {
	d := &f.Measures.divided
	d.byName = true
	for number := range f.sections.Named {
		d.resources.of(uint32(number))
	}
}

// used records how long a resource was in use.
func (d *divided) used(r *section.Resource) {
	if d.byName {
		d.resources.of(uint32(r.Instance)).busy = r.Busy
	}
}

// OfResources returns the figures of each resource, by its number; nil unless ByResource was called.
func (m *Measures) OfResources() (all []OfResource) {
	for _, g := range m.divided.resources {
		of := OfResource{Resource: int(g.number), OfGroup: g.figures()}
		if m.Window.Known() {
			of.Utilisation = figure.Ratio(float64(g.busy), float64(m.Window.Length()))
		}
		all = append(all, of)
	}
	return all
}

// units measures how many units of a resource were taken at once: the most, by the register, and the average
// over the window and the resources.
func (f *Fold) units() {
	m := &f.Measures
	var most uint32
	several := 0
	for _, r := range f.sections.Resources {
		if r != nil {
			most = max(most, r.Deepest.Count)
			if r.Capacity > 1 {
				several++
			}
		}
	}
	if several == 0 || f.sections.Entries == 0 {
		return
	}
	m.UnitsTakenMax = figure.Count(uint64(most))
	if m.Window.Known() {
		m.UnitsTakenMean = figure.Ratio(m.divided.held, float64(m.Window.Length())*float64(several))
	}
}
