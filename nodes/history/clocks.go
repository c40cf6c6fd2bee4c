package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
	"turnstile/internal/offset"
	"turnstile/internal/yamlfile"
	"turnstile/nodes"
)

// ClocksFile is the file, in the folder of a trial's logs, of the clocks that are not the orchestrator's.
// Readers of the folder correct the stamps with it.
const ClocksFile = "clocks.yaml"

// A Clock is that of a host whose nodes do not stamp by the clock of the orchestrator, which is the
// reference.
type Clock struct {
	Host  string     `yaml:"host"`
	Nodes []nodes.ID `yaml:"nodes"` // whose logs it has stamped, in all their incarnations
	// The run's zero, in nanoseconds: on this clock, which is what the nodes were told (host.Config.Zero), and
	// on the reference's.
	Zero      int64 `yaml:"zero"`
	Reference int64 `yaml:"reference_zero"`
	// Pieces are by how much this clock was ahead of the reference's. Without any, nothing is known of it, and
	// no two stamps of which one is its are ever compared.
	Pieces offset.Pieces `yaml:"pieces"`
}

// Unknowable is the bound on the error of stamps of which nothing is known, in nanoseconds.
const Unknowable = int64(1) << 60

// Correct returns the time of the run, by the reference's clock, of a stamp of this one, in nanoseconds.
func (c *Clock) Correct(stamp int64) int64 {
	if len(c.Pieces) == 0 {
		return stamp
	}
	at, _ := c.Pieces.Reference(stamp + c.Zero)
	return at - c.Reference
}

// bound returns the largest bound on the error of a stamp while the clock was known.
func (c *Clock) bound() int64 {
	for i := range c.Pieces {
		if !c.Pieces[i].Unknown {
			return min(c.Pieces.Bound(), Unknowable)
		}
	}
	return Unknowable
}

// clocks are the clocks of a trial: what ClocksFile holds.
type clocks struct {
	Origin uint64  `yaml:"origin"` // of the trial's logs
	Clocks []Clock `yaml:"clocks"`
}

// clocksSeal is what the last line of ClocksFile begins with, before the CRC-32C of what is above it.
const clocksSeal = "# crc32c "

// WriteClocks writes, into the folder of a trial's logs, what is known of the clocks of its hosts. It
// replaces what was written before. A run over several hosts writes all of them, without pieces, before it
// starts the first node: then nobody takes the stamps of a run that was cut off for those of one clock.
func WriteClocks(dir string, origin uint64, all []Clock) error {
	text, err := yaml.Marshal(clocks{origin, all})
	if err != nil {
		return fmt.Errorf("writing the clocks: %w", err)
	}
	text = fmt.Appendf(text, "%s%08x\n", clocksSeal, crc32.Checksum(text, castagnoli))
	path := filepath.Join(dir, ClocksFile)
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("writing the clocks: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return errors.Join(fmt.Errorf("writing the clocks: %w", err), os.Remove(path+".new"))
	}
	return nil
}

// readClocks reads the clocks of a folder of logs of a trial; nil: its hosts have one.
func readClocks(dir string, origin uint64) ([]Clock, error) {
	path := filepath.Join(dir, ClocksFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var read clocks
	at := max(0, bytes.LastIndex(b, []byte(clocksSeal)))
	if seal := fmt.Sprintf("%s%08x\n", clocksSeal, crc32.Checksum(b[:at], castagnoli)); string(b[at:]) != seal {
		return nil, fmt.Errorf("%s: it is cut off or garbled: it does not end with its checksum", path)
	}
	if err := yamlfile.Decode(b[:at], &read); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := read.check(origin); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return read.Clocks, nil
}

func (c *clocks) check(origin uint64) error {
	if c.Origin != origin {
		return errors.New("these are the clocks of another trial than the logs beside them")
	}
	host := map[nodes.ID]string{}
	for i := range c.Clocks {
		clock := &c.Clocks[i]
		for _, id := range clock.Nodes {
			if other, twice := host[id]; twice {
				return fmt.Errorf("node %d has the clock of %s, and that of %s: a node has one", id, other, clock.Host)
			}
			host[id] = clock.Host
		}
		for j := range clock.Pieces {
			p := &clock.Pieces[j]
			if !p.Sound() || j > 0 && p.From < clock.Pieces[j-1].From {
				return fmt.Errorf("piece %d of the clock of %s is none: pieces come in the order of time, and the "+
					"rate of each is above -1", j+1, clock.Host)
			}
		}
	}
	return nil
}

// NoClock is the number of a clock that jumped: not even stamps of one host can be compared meanwhile.
const NoClock = math.MaxUint64

// correct has the logs of a folder stamped by the reference's clock from now on.
func (f *folder) correct(all []Clock) {
	f.clocks = all
	for _, l := range f.readers {
		l.own = l.StampError
		for i := range all {
			if slices.Contains(all[i].Nodes, l.Node) {
				l.clock = &all[i]
				l.StampError += all[i].bound()
			}
		}
		for i := range l.Trace {
			l.Trace[i].At = l.corrected(l.Trace[i].At)
		}
	}
}

// corrected returns a time of a log by the reference's clock.
func (l *logReader) corrected(at int64) int64 {
	if l.clock == nil {
		return at
	}
	return l.clock.Correct(at)
}

// restamp corrects the times of the latest event. Stamps of a log never fall.
func (l *logReader) restamp(last int64) {
	if l.clock == nil {
		return
	}
	l.event.At = l.corrected(l.event.At)
	if l.count > 0 {
		l.event.At = max(l.event.At, last)
	}
	if l.event.Kind == Requested || l.event.Kind == Unissued {
		l.event.Value = l.corrected(l.event.Value)
	}
}

// bound notes how far the stamps of nodes may err from when on, in the order of time, of a history whose
// first event is at begin; nothing, if all nodes have the reference's clock.
func (f *folder) bound(begin int64) {
	if len(f.clocks) == 0 {
		return
	}
	own, clockOf := map[nodes.ID]int64{}, map[nodes.ID]int{}
	for _, l := range f.readers {
		own[l.Node] = max(own[l.Node], l.own)
	}
	for i := range f.clocks {
		for _, id := range f.clocks[i].Nodes {
			clockOf[id] = i + 1
		}
	}
	for id := range own {
		e := Event{At: begin, Kind: ClockBound, Count: uint32(id), Value: own[id], Node: nodes.None,
			Entry: uint32(min(own[id], math.MaxUint32))}
		if id == nodes.None {
			continue
		} else if i := clockOf[id]; i == 0 {
			f.bounds = append(f.bounds, e)
		} else {
			f.bounds = append(f.bounds, f.clocks[i-1].bounds(i, e)...)
		}
	}
	slices.SortFunc(f.bounds, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Count, b.Count))
	})
}

// bounds returns the bounds on the errors of stamps of a node that has the clock, of that number, given
// that by its log alone. They are told when they grow, and when they are half of what they were or less.
func (c *Clock) bounds(number int, own Event) (all []Event) {
	told := own
	told.Value, told.Fence = Unknowable, NoClock
	all = append(all, told)
	for i := range c.Pieces {
		p, now := &c.Pieces[i], own
		now.At, now.Fence = max(own.At, p.From-c.Reference), uint64(number)
		bound := min(p.Bound, Unknowable) + own.Value
		now.Value = bound
		if p.Unknown {
			now.Fence = NoClock
		} else if told.Fence == now.Fence && bound <= told.Value && bound > told.Value/2 {
			continue
		} else {
			now.Value += bound / 8 // so that it holds for a while
		}
		if told = now; all[len(all)-1].At == now.At {
			all[len(all)-1] = now
		} else {
			all = append(all, now)
		}
	}
	return all
}
