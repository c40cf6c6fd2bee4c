package site

import (
	"context"
	"errors"

	"turnstile/bench/cluster"
	"turnstile/chaos"
	"turnstile/internal/proc"
	"turnstile/nodes"
)

// Hosts are where the processes of a run are started: this machine, or several hosts by their agents.
type Hosts interface {
	// all returns the hosts, by their numbers.
	all() []cluster.Host
	// Agents returns the processes by which this machine serves as several hosts.
	Agents() []cluster.Process
	// Stops returns how often processes of the run were seen to be stopped or continued.
	Stops() uint64
	// use returns how busy the kernels of other hosts were, in ticks, since they were last asked, and how many
	// CPUs they have. What processes there have used is known after it.
	use() (busy, all uint64, cpus int)

	// Begin has the hosts begin a trial, whose zero and folder on this machine are given. It returns what is to
	// be put on record of the hosts; nil: nothing.
	Begin(ctx context.Context, dir string, origin uint64, zero int64) (*FleetRecord, error)
	// Collect has the folder of a trial hold what the hosts have recorded, as far as it can be had, and what is
	// known of their clocks.
	Collect(ctx context.Context, dir string, origin uint64) error
	// DirOf returns where the log of a node goes, on its host, given the folder of the trial on this machine.
	DirOf(dir string, id nodes.ID) string
	// SharedDir returns the folder of what a node shares with others: with all of them, or with those of its
	// host.
	SharedDir(dir string, id nodes.ID) string
	// ZeroOf returns the zero of a trial by the clock of the host of a node, given that of this machine.
	ZeroOf(zero int64, id nodes.ID) int64
	// Refresh reads what the nodes of all hosts count now, and reports whether all is known.
	Refresh() bool

	// Apart reports whether the hosts share no memory. Then Follow has the states of faults there follow that of
	// the run, and takes over what nodes have seen there.
	Apart() bool
	Follow(state *chaos.SharedState, clients int) error

	// CutsNetworks reports whether the kernels of the hosts can drop packets. CutNetwork has those of some hosts
	// drop the packets to and from ports, and HealNetwork has them pass again, by the number of the cut.
	CutsNetworks() bool
	CutNetwork(number int, hosts []int, ports []uint16) error
	HealNetwork(number int) error

	close()
}

// A machine is this machine alone.
type machine struct{ *cluster.Launcher }

// ErrNoCutter is the error of a cut of networks that no kernel can carry out.
var ErrNoCutter = errors.New("no kernel of this run can drop packets: take hosts with networks of their own")

func (m machine) all() []cluster.Host     { return []cluster.Host{m.Launcher} }
func (machine) Agents() []cluster.Process { return nil }
func (machine) Stops() uint64             { return proc.NoticeStops() }
func (machine) use() (_, _ uint64, _ int) { return 0, 0, 0 }
func (machine) Refresh() bool             { return true }
func (machine) Apart() bool               { return false }
func (machine) CutsNetworks() bool        { return false }
func (machine) HealNetwork(int) error     { return ErrNoCutter }
func (machine) close()                    {}

func (machine) Begin(context.Context, string, uint64, int64) (*FleetRecord, error) { return nil, nil }
func (machine) Collect(context.Context, string, uint64) error                      { return nil }
func (machine) DirOf(dir string, _ nodes.ID) string                                { return dir }
func (machine) SharedDir(dir string, _ nodes.ID) string                            { return dir }
func (machine) ZeroOf(zero int64, _ nodes.ID) int64                                { return zero }
func (machine) Follow(*chaos.SharedState, int) error                               { return nil }
func (machine) CutNetwork(int, []int, []uint16) error                              { return ErrNoCutter }
