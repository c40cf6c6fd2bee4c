package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/bench/service"
	"turnstile/bench/study"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/host"
)

// alsoHere returns the services of this program, to add to the error of another program that lacks a service.
func alsoHere(err error) (text string) {
	says := err.Error()
	if strings.HasPrefix(says, "there is no service") && !strings.Contains(says, "did you mean") {
		for _, s := range ownServices {
			text += ", " + s.Name
		}
		text += ", and with make services-lease " + apart
	}
	return text
}

func serviceCommand() Command {
	return Command{
		Name:   "service",
		Short:  "Describe a service that this program has, be its client, or start its servers",
		Hidden: true,
		Raw:    true,
		Run: func(_ context.Context, a *app) error {
			own := service.Table{Services: ownServices, Self: append([]string{terminal.OwnPath()}, serviceArgs...)}
			a.status = own.Call(a.args, a.stdin, a.stdout, a.stderr)
			return nil
		},
	}
}

// serviceFlags are the flags of runs about a service.
type serviceFlags struct {
	name     string
	with     []string
	endpoint string
	client   string
	granted  time.Duration // the time to live that servers grant, once the service is described
}

func (x *serviceFlags) add(f *pflag.FlagSet, s *runs.Setup) {
	f.StringVar(&x.name, foreign.ServiceOption, "", "`name` of a service to run instead, as in redis (see "+
		"docs/services.md)")
	f.StringSliceVar(&x.with, "with", nil, "`options` of that service, as in px=1s,fence=on")
	f.StringVar(&x.endpoint, foreign.EndpointOption, "", "`addresses` of servers that run already, host:port "+
		"with commas between (default servers of the run's own)")
	f.StringVar(&x.client, foreign.ClientOption, "", "`command` of your own client of it, as in "+
		"'python3 mylock.py'")
	f.StringVar(&s.Secrets, "secrets", "", "`folder` with the secret of these servers, as bin/services up NAME "+
		"prints it (default they demand nothing)")
	f.StringVar(&s.ServerProgram, "server-program", "", "`path` of the program of the servers (default the one "+
		"in PATH)")
	common(f, foreign.ServiceOption, foreign.ClientOption)
}

// useService makes the run be about the service that --service names, with the promises of its program.
func (c *benchCall) useService(s settings) (used bool, err error) {
	x := &c.service
	switch {
	case x.name == "" && (x.with != nil || x.endpoint != "" || x.client != "" || c.setup.ServerProgram != ""):
		return false, errors.New("--with, --endpoint, --client and --server-program are for a service: add " +
			"--service")
	case x.name == "":
		return false, nil
	case s.given("algo"), c.foreign.command != "":
		return false, errors.New("--service, --foreign and --algo say what is run: leave out all but one (a " +
			"client of your own for a service is --client)")
	case x.client == "" && (c.foreign.kinds != "" || c.foreign.promises != ""):
		return false, errors.New("--kinds and --promises are for a program of your own: add --client, or leave " +
			"them out")
	case x.endpoint == "" && c.setup.Secrets != "":
		return false, errors.New("--secrets is for servers that run already: add --endpoint")
	case x.endpoint != "" && c.setup.ServerProgram != "":
		return false, errors.New("--endpoint names running servers, and --server-program starts some: leave out " +
			"one of the two")
	}
	for _, at := range strings.Split(x.endpoint, ",") {
		if _, port, err := net.SplitHostPort(at); x.endpoint != "" && (err != nil || port == "") {
			return false, fmt.Errorf("--endpoint: %q is not the address of a server: write host:port, with commas "+
				"between several", at)
		}
	}
	command, err := serviceProgram(x.name)
	if err != nil {
		return false, err
	}
	config := c.Config
	config.Options = nil // a service does not take options of algorithms
	program := service.Program{Command: command, Name: x.name, Words: x.with, Server: c.setup.ServerProgram,
		Endpoint: x.endpoint, OtherClient: x.client}
	subject, d, err := c.subject(&program, config)
	if err != nil {
		return false, fmt.Errorf("%w%s", err, alsoHere(err))
	}
	if !d.Elects && !slices.Contains(c.problems, check.Exclusion) {
		return false, fmt.Errorf("%s grants locks: orchestrator bench --service %[1]s runs it", x.name)
	}
	if err := c.checkServiceOptions(s, foreign.OptionsOf(subject.Config)); err != nil {
		return false, err
	}
	c.Spec, c.Config, c.Servers = subject.Spec, c.foreign.passTo(subject.Config), subject.Servers
	x.granted = subject.Granted
	if foreign.Silent(c.Config) { // clients send no messages here: a latency from a file is for other runs
		if s.below("latency", foreign.ServiceOption) {
			c.Latency = chance.Distribution{}
		}
		if s.below("regions", foreign.ServiceOption) {
			c.regions = ""
		}
	}
	return true, nil
}

// declaredBy returns what a run about a lock or an election needs to know of the service of a program, whose
// clients may be another program.
func declaredBy(ctx context.Context, p *service.Program, config nodes.Config, seed uint64) (
	*study.ServiceSubject, *foreign.Declaration, error) {
	if p.OtherClient == "" {
		return subjectOf(ctx, p, config)
	}
	c := &benchCall{runCommand: runCommand{problems: check.Problems}, Options: bench.Options{Seed: seed}}
	c.Config.N = config.N
	return c.subject(p, config)
}

// subject returns what the run needs to know of the service of a program. The clients of the user's own
// declare what they promise.
func (c *benchCall) subject(p *service.Program, config nodes.Config) (*study.ServiceSubject,
	*foreign.Declaration, error) {
	if p.OtherClient == "" {
		return subjectOf(context.Background(), p, config)
	}
	described, err := p.Describe(context.Background())
	if err != nil {
		return nil, nil, err
	}
	d, err := c.foreign.promised(c, p.OtherClient, foreign.Service{Prefix: "turnstile/declared/",
		TTL: described.Granted(), With: foreign.OptionsIn(described.Words)})
	if errors.Is(err, host.ErrEnded) {
		err = fmt.Errorf("%w (it is started once before the run, with no servers in its options, for its "+
			"declaration)", err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--%s: %w", foreign.ClientOption, err)
	}
	s, err := subjectWith(p, described, d, config.With(foreign.ClientOption, p.OtherClient))
	return s, d, err
}

// checkServiceOptions refuses options of algorithms beside a service, whose options are in --with. It ignores
// an option of a lower rank than the service, such as one in a file for many runs.
func (c *benchCall) checkServiceOptions(s settings, own map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(c.Config.Options)) {
		if s.below(name, foreign.ServiceOption) {
			continue
		}
		of := "--" + name + " is an option of algorithms, and "
		if _, is := own[name]; is {
			return fmt.Errorf("%s%s has one of that name: write --with %s=%s", of, c.service.name, name,
				c.Config.Options[name])
		}
		return fmt.Errorf("%s%s has options of its own, by --with: leave it out", of, c.service.name)
	}
	return nil
}

// subjectOf asks a program to describe its service, and returns the algorithm, the servers and the completed
// configuration of the run.
func subjectOf(ctx context.Context, p *service.Program, c nodes.Config) (*study.ServiceSubject,
	*foreign.Declaration, error) {
	described, err := p.Describe(ctx)
	if err != nil {
		return nil, nil, err
	}
	d, err := declarationOf(described)
	if err != nil {
		return nil, nil, err
	}
	s, err := subjectWith(p, described, d, c)
	return s, d, err
}

// subjectWith does what subjectOf does, for a service that is described, whose clients make a declaration.
func subjectWith(p *service.Program, described *service.Description, d *foreign.Declaration, c nodes.Config) (
	*study.ServiceSubject, error) {
	options := foreign.OptionsIn(described.Words)
	options[foreign.EndpointOption] = p.Endpoint
	options[foreign.ServerVersionOption] = described.Server
	options[foreign.ClientVersionOption] = described.Library
	s := &study.ServiceSubject{Config: foreign.ServiceConfig(c, p.Name, options, d),
		Granted: described.Granted(), Holds: described.Holds()}
	if p.Endpoint != "" {
		s.Servers.Service = p.Name
	} else if described.Members > 0 {
		s.Servers = chaos.Servers{Service: p.Name, Count: described.Members, Leads: described.Leads,
			Promotes: described.Promotes, Peers: described.Peers, NoClock: described.NoClock,
			Deletes: described.Deletes, Queues: described.Queues, Expires: described.Expires,
			Recovers: time.Duration(described.RecoversMS * float64(time.Millisecond))}
	}
	var err error
	s.Spec, err = foreign.Algorithm(s.Config)
	return s, err
}

// declarationOf returns the declaration in the description of a service.
func declarationOf(d *service.Description) (*foreign.Declaration, error) {
	b, err := json.Marshal(d.Declaration)
	if err != nil {
		return nil, err
	}
	return foreign.ReadDeclaration(string(b))
}

// foreignFlags are the flags of runs whose algorithm is a foreign program.
type foreignFlags struct {
	command, kinds, promises string
	pass                     []string
}

func (x *foreignFlags) add(f *pflag.FlagSet) {
	f.StringVar(&x.command, foreign.CommandOption, "", "`command` of a program to run instead, at "+
		"every node, as in 'python3 ra.py' (see docs/foreign.md)")
	x.addDeclared(f)
}

// addDeclared adds the flags for what a program declares, and gets.
func (x *foreignFlags) addDeclared(f *pflag.FlagSet) {
	f.StringVar(&x.kinds, foreign.KindsOption, "", "`kinds` of messages of that program or client, with what "+
		"they carry, as in token:token,reply:permit (default what it declares)")
	f.StringVar(&x.promises, foreign.PromisesOption, "", "`promises` of that program or client, as in "+
		"safe=no-loss+no-crash,fenced, in the place of all that it declares but its kinds")
	f.StringSliceVar(&x.pass, foreign.PassOption, nil, "`names` of variables of the environment that the "+
		"program or client gets beside PATH, HOME, LANG, TZ, TMPDIR and TURNSTILE_*")
}

// useForeign makes the run be about the program that --foreign names. Unless both --kinds and --promises are
// given, it starts the program briefly and asks for its declaration.
func (c *benchCall) useForeign(s settings) (used bool, err error) {
	x := &c.foreign
	switch {
	case x.pass != nil && x.command == "":
		return false, errors.New("--pass is for a foreign program or the client of a service: add --foreign or " +
			"--service")
	case x.command == "" && (x.kinds != "" || x.promises != ""):
		return false, errors.New("--kinds and --promises are for a program of your own: add --foreign, or " +
			"--service and --client")
	case x.command == "":
		return false, nil
	case s.given("algo"):
		return false, errors.New("--foreign and --algo both say what is run: leave out one of the two")
	}
	d, err := x.promised(c, x.command, foreign.Service{})
	if err != nil {
		return false, fmt.Errorf("--foreign: %w", err)
	}
	c.Config = x.passTo(foreign.Config(c.Config, x.command, d))
	c.Spec, err = foreign.Algorithm(c.Config)
	return true, err
}

// promised returns the declaration of a program for a run of this command, which may be about elections
// alone. A client of the user's own gets the options of its service.
func (x *foreignFlags) promised(c *benchCall, command string, service foreign.Service) (*foreign.Declaration,
	error) {
	d, err := x.declaration(c, command, service)
	if err != nil {
		return nil, err
	}
	elects := !slices.Contains(c.problems, check.Exclusion)
	excludes := func(k nodes.MessageKind) bool { return k.Token || k.Permit }
	if elects && !d.Elects && (d.Fenced || d.Cancels || slices.ContainsFunc(d.Kinds, excludes)) {
		flag := foreign.CommandOption
		if service.Prefix != "" {
			flag = foreign.ClientOption
		}
		return nil, fmt.Errorf("the program grants locks, since it declares fence numbers, cancel, or messages "+
			"that carry a token or a permit: orchestrator bench --%s runs it", flag)
	}
	d.Elects = d.Elects || elects
	return d, nil
}

// passTo adds to a configuration the variables that the program gets.
func (x *foreignFlags) passTo(c nodes.Config) nodes.Config {
	if x.pass == nil {
		return c
	}
	return c.With(foreign.PassOption, strings.Join(x.pass, ","))
}

// declaration returns the declaration of the program of a command. Flags replace parts of it.
func (x *foreignFlags) declaration(c *benchCall, command string, service foreign.Service) (
	*foreign.Declaration, error) {
	given, err := foreign.Parse(x.kinds, x.promises)
	if err != nil || x.kinds != "" && x.promises != "" {
		return given, err
	}
	if c.Config.N < 1 {
		return nil, (&nodes.Spec{Name: foreign.Name}).Validate(c.Config)
	}
	d, err := host.Declare(command, strings.Join(x.pass, ","), foreign.Init{N: c.Config.N, Seed: c.Seed,
		Service: service})
	if err != nil {
		return nil, err
	}
	if x.kinds != "" {
		d.Kinds = given.Kinds
	}
	if x.promises != "" {
		kinds := d.Kinds
		d = given
		d.Kinds = kinds
	}
	return d, nil
}
