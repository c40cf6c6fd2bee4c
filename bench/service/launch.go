package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"turnstile/hosts/cluster"
	"turnstile/internal/proc"
	"turnstile/internal/unavailable"
)

// protocol is the version of the protocol between this package and the programs of services.
const protocol = 5

// A Description is a program's description of a service with its options.
type Description struct {
	Protocol int      `json:"protocol"`
	Service  string   `json:"service"`
	Summary  string   `json:"summary"`
	Promise  string   `json:"promise"` // quoted from the documentation of the service
	Link     string   `json:"link"`
	Words    []string `json:"words"`             // all options, as name=value, sorted
	Members  int      `json:"members,omitempty"` // number of servers
	Server   string   `json:"server,omitempty"`  // version of the server's program
	Library  string   `json:"library,omitempty"` // library of the service's own client, with its version
	Leads    bool     `json:"leads,omitempty"`   // one of the servers leads
	Promotes bool     `json:"promotes,omitempty"`
	Deletes  bool     `json:"deletes,omitempty"`  // see Service.Delete
	Queues   bool     `json:"queues,omitempty"`   // see Service.Queues
	Expires  bool     `json:"expires,omitempty"`  // see Service.Expire
	Peers    bool     `json:"peers,omitempty"`    // servers talk to each other over links that can be cut
	NoClock  string   `json:"no_clock,omitempty"` // why the clocks of servers cannot be set; empty: they can

	// RecoversMS is Servers.Recovers in milliseconds.
	RecoversMS float64 `json:"recovers_ms,omitempty"`
	// GrantedMS is Service.Granted in milliseconds; 0: no time is granted.
	GrantedMS float64 `json:"granted_ms,omitempty"`
	HoldsMS   float64 `json:"holds_ms,omitempty"` // Service.Holds in milliseconds; 0: for any time

	Declaration Declaration `json:"declaration"` // of the service's own client
}

// Granted returns GrantedMS as a duration.
func (d *Description) Granted() time.Duration {
	return time.Duration(d.GrantedMS * float64(time.Millisecond))
}

// Holds returns HoldsMS as a duration.
func (d *Description) Holds() time.Duration {
	return time.Duration(d.HoldsMS * float64(time.Millisecond))
}

// A Program says how to run a service: the command of the program that has the service, up to the words
// "client" and "up", and the options of the user.
type Program struct {
	Command []string
	Name    string   // name of the service
	Words   []string // the options that the user has given
	Server  string   // path of the server's program; empty: the one in PATH
	// Endpoint has the addresses of external servers, host:port separated by commas; empty: the run starts
	// servers.
	Endpoint string
	Secrets  string // folder with the secret of external servers (see secret.Read); empty: none is needed
	// OtherClient is the shell command of clients of the user's own; empty: the program has the clients.
	OtherClient string
}

// args returns the command line of a subcommand.
func (p *Program) args(subcommand string) []string {
	args := append(slices.Clone(p.Command), subcommand)
	if p.Name != "" {
		args = append(args, p.Name)
	}
	args = append(args, p.Words...)
	if subcommand == "describe" && p.Endpoint != "" {
		args = append(args, "--endpoint", p.Endpoint)
	}
	if subcommand == "describe" && p.OtherClient != "" {
		args = append(args, "--other-clients")
	}
	if p.Server != "" && subcommand != "client" {
		args = append(args, "--server-program", p.Server)
	}
	return args
}

// Client returns the command of clients as a shell command.
func (p *Program) Client() string {
	if p.OtherClient != "" {
		return p.OtherClient
	}
	var words []string
	for _, word := range p.args("client") {
		words = append(words, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	return strings.Join(words, " ")
}

// describeLimit is how long a program may take to describe a service. A JVM takes a second, and a compiler of
// Java some.
var describeLimit = 60 * time.Second

// Describe asks the program what the service promises, and whether its servers can be started. The error says
// which option is wrong, or what is missing.
func (p *Program) Describe(ctx context.Context) (*Description, error) {
	var d Description
	if err := p.ask(ctx, "describe", &d); err != nil {
		return nil, err
	}
	if d.Protocol != protocol {
		return nil, fmt.Errorf("%s is of another version than this program: build it again with make services, "+
			"or make services-lease", p.Command[0])
	}
	return &d, nil
}

// Entry asks the program for the entry of the service. The servers need not be on this machine.
func (p *Program) Entry(ctx context.Context) (*Entry, error) {
	var e Entry
	return &e, p.ask(ctx, "tell", &e)
}

// Entries asks the program for the entries of all its services.
func (p *Program) Entries(ctx context.Context) (all []*Entry, err error) {
	err = p.ask(ctx, "tell", &all)
	return all, err
}

// ask calls a subcommand that prints one JSON document, and decodes it into answer.
func (p *Program) ask(ctx context.Context, subcommand string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	args := p.args(subcommand)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var says bytes.Buffer
	cmd.Stderr = &says
	out, err := proc.Output(cmd, false)
	if err != nil {
		if text := strings.TrimSpace(says.String()); text != "" {
			return errors.New(text)
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = unavailable.Mark(fmt.Errorf("it has not answered within %v", describeLimit))
		}
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		return fmt.Errorf("%s prints no description (%w): %.200q", strings.Join(args, " "), err, out)
	}
	return nil
}

// Running has the servers of a run. The zero Running has no servers.
type Running struct {
	Held
	guard  *proc.Guard     // removes the folder if this process is killed
	worker *cluster.Worker // the process of the servers; nil: no servers
	dir    string
	name   string // name of the service
}

// upLimit is how long all servers together may take to start on a machine without a free processor.
const upLimit = proc.LongestStart * 90 * time.Second

// Launch calls Hold and Start. The servers reach each other directly.
func Launch(ctx context.Context, on cluster.Host, p *Program) (*Running, error) {
	r, err := Hold(ctx, on, p)
	if err == nil {
		if err = r.Start(ctx, nil, false); err != nil {
			err = errors.Join(err, r.Close())
		}
	}
	return r, err
}

// Hold takes ports for the servers of a service on this machine. Start starts the servers. Their data is in a
// temporary folder, which is removed after the servers have ended, even if this process is killed.
func Hold(ctx context.Context, on cluster.Host, p *Program) (*Running, error) {
	dir, err := proc.TempDir("servers")
	if err == nil {
		err = os.Chmod(dir, 0o711) // the servers' user needs access
	}
	if err != nil {
		return nil, err
	}
	r := &Running{dir: dir, name: p.Name}
	if r.guard, err = proc.GuardFolder(dir); err != nil {
		return nil, errors.Join(err, proc.RemoveTemp(dir))
	}
	if r.worker, err = cluster.StartWorker(on, "the process of the servers", p.args("up")); err != nil {
		r.guard.Dismiss()
		return nil, errors.Join(err, proc.RemoveTemp(dir))
	}
	r.worker.SetLimit(upLimit)
	ports := order{Order: Order{Do: hold}, Program: p.Server, Dir: dir}
	if err := r.worker.Ask(ctx, ports, &r.Held); err != nil {
		return nil, errors.Join(fmt.Errorf("taking ports for the servers of %s: %w", p.Name, err), r.Close())
	}
	return r, nil
}

// Start starts the servers, and waits until they serve. Through has all links between servers, with addresses
// of proxies in front of them; nil: servers reach each other directly. If clocks is set, the
// clocks of the servers can be set, but all servers run more slowly.
func (r *Running) Start(ctx context.Context, through []PeerLink, clocks bool) error {
	if err := r.ask(ctx, order{Order: Order{Do: startAll}, Links: through, Clocks: clocks}, nil); err != nil {
		return fmt.Errorf("starting the servers of %s: %w", r.name, err)
	}
	return nil
}

// ErrNoServers is the error for operations on servers in a run without servers.
var ErrNoServers = errors.New("this run has no servers of its own: choose a service with --service")

// ask has the process of the servers carry out an order.
func (r *Running) ask(ctx context.Context, o order, result any) error {
	if r.worker == nil {
		return ErrNoServers
	}
	return r.worker.Ask(ctx, o, result)
}

// Processes returns the process that controls the servers, if the run has servers.
func (r *Running) Processes() []cluster.Process {
	if r.worker == nil {
		return nil
	}
	return []cluster.Process{r.worker}
}

// Close ends the servers, and removes their data.
func (r *Running) Close() error {
	if r.worker == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*stopLimit)
	defer cancel()
	r.worker.Ask(ctx, order{Order: Order{Do: end}}, nil) // if this fails, the servers end with the worker
	r.worker.End()
	err := proc.RemoveTemp(r.dir)
	for late := time.Now().Add(stopLimit); err != nil && time.Now().Before(late); err = os.RemoveAll(r.dir) {
		time.Sleep(20 * time.Millisecond) // a process that is ending may still write to the folder
	}
	r.guard.Dismiss()
	return err
}

// PIDs returns the process IDs of the servers; 0: the server is down.
func (r *Running) PIDs(ctx context.Context) (all []int, err error) {
	err = r.ask(ctx, order{Order: Order{Do: pids}}, &all)
	return all, err
}

// Leader returns the server that leads now, or -1.
func (r *Running) Leader(ctx context.Context) (i int, err error) {
	err = r.ask(ctx, order{Order: Order{Do: leader}}, &i)
	return i, err
}

// Again restarts all servers at their addresses, without their data.
func (r *Running) Again(ctx context.Context) error {
	return r.ask(ctx, order{Order: Order{Do: again}}, nil)
}

// Take has the servers carry out Delete or Expire. It returns false if the client has nothing that could be
// taken.
func (r *Running) Take(ctx context.Context, do string, from Client) (had bool, err error) {
	err = r.ask(ctx, order{Order: Order{Do: do}, Client: &from}, &had)
	return had, err
}

// Do has orders about servers carried out, one after the other, until one fails.
func (r *Running) Do(ctx context.Context, orders ...Order) error {
	for _, o := range orders {
		if err := r.ask(ctx, order{Order: o}, nil); err != nil {
			return err
		}
	}
	return nil
}
