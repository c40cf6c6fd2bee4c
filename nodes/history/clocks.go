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
	"turnstile/internal/input"
	"turnstile/internal/offset"
	"turnstile/internal/yamlfile"
	"turnstile/nodes"
)

// ClocksFile has the clocks of hosts, in the folder of a trial's logs. Readers of the folder correct the
// stamps with it.
const ClocksFile = "clocks.yaml"

// A Clock is the clock of a host other than the orchestrator's. The orchestrator's clock is the reference.
type Clock struct {
	Host  string     `yaml:"host"`
	Nodes []nodes.ID `yaml:"nodes"` // the nodes whose logs it stamped, in all incarnations
	// The run's zero, in nanoseconds: on this clock, as the nodes were told (host.Config.Zero), and on the
	// reference.
	Zero      int64 `yaml:"zero"`
	Reference int64 `yaml:"reference_zero"`
	// Pieces say how far this clock was ahead of the reference. Without any, its stamps cannot be compared
	// with others.
	Pieces offset.Pieces `yaml:"pieces"`
}

// Unknowable is the bound on an unknown error of stamps, in nanoseconds.
const Unknowable = int64(1) << 60

// Correct converts a stamp of this clock to the time of the run by the reference, in nanoseconds.
func (c *Clock) Correct(stamp int64) int64 {
	if len(c.Pieces) == 0 {
		return stamp
	}
	at, _ := c.Pieces.Reference(stamp + c.Zero)
	return at - c.Reference
}

// bound returns the largest bound on the error of a stamp, except where the offset was unknown.
func (c *Clock) bound() int64 {
	for i := range c.Pieces {
		if !c.Pieces[i].Unknown {
			return min(c.Pieces.Bound(), Unknowable)
		}
	}
	return Unknowable
}

// clocks is the content of ClocksFile.
type clocks struct {
	Origin uint64  `yaml:"origin"` // Origin of the trial's logs: see Header
	Clocks []Clock `yaml:"clocks"`
}

// clocksSeal begins the last line of ClocksFile. The CRC-32C of all lines above follows.
const clocksSeal = "# crc32c "

// WriteClocks writes or replaces the ClocksFile of a folder. A run over several hosts first writes all clocks
// without pieces, before it starts a node: otherwise, if the run is cut off, readers would take all stamps to
// be of one clock.
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

// readClocks reads the clocks of a folder of logs; nil: all hosts have the orchestrator's clock.
func readClocks(dir string, origin uint64) ([]Clock, error) {
	path := filepath.Join(dir, ClocksFile)
	b, err := input.ReadFile(path, input.RecordLimit)
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
				return fmt.Errorf("piece %d of the clock of %s is wrong: pieces come in the order of time, and the "+
					"rate of each is above -1", j+1, clock.Host)
			}
		}
	}
	return nil
}

// NoClock is the number of a clock while it jumps: then not even stamps of one host can be compared.
const NoClock = math.MaxUint64

// correct sets the clocks of the logs of a folder: from now on stamps are corrected to the reference.
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

// corrected converts a time of the log to the reference.
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

// bound adds the ClockBound events of the history to f.others, in the order of time; begin is the time of its
// first event. Without clocks it adds nothing.
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
			f.others = append(f.others, e)
		} else {
			f.others = append(f.others, f.clocks[i-1].bounds(i, e)...)
		}
	}
	slices.SortFunc(f.others, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Count, b.Count))
	})
}

// bounds returns the ClockBound events of a node with this clock, whose number is number. own is the event
// with the bound from the node's log alone. A new event comes when the bound grows, or falls to half or less.
func (c *Clock) bounds(number int, own Event) (all []Event) {
	last := own
	last.Value, last.Fence = Unknowable, NoClock
	all = append(all, last)
	for i := range c.Pieces {
		p, now := &c.Pieces[i], own
		now.At, now.Fence = max(own.At, p.From-c.Reference), uint64(number)
		bound := min(p.Bound, Unknowable) + own.Value
		now.Value = bound
		if p.Unknown {
			now.Fence = NoClock
		} else if last.Fence == now.Fence && bound <= last.Value && bound > last.Value/2 {
			continue
		} else {
			now.Value += bound / 8 // slack, so the bound holds for a while
		}
		if last = now; all[len(all)-1].At == now.At {
			all[len(all)-1] = now
		} else {
			all = append(all, now)
		}
	}
	return all
}
